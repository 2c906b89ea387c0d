internal import NevodPluginABI
public import NevodSupport

/// The response to a flow's request.
public struct FlowResponse: Sendable {
    /// The status, 100 … 599.
    public let status: Int
    /// All lines in order, none merged: every WWW-Authenticate, every Set-Cookie.
    public let headers: [(name: String, value: String)]
    /// The body, at most 1 MiB. A secret, because it may hold tokens.
    public let body: Secret
    /// Whether the body is longer than ``body``: that of a challenge is cut at 64 KiB.
    public let bodyIsCut: Bool
    /// The URL of the response, after the redirects that the host followed.
    public let url: String
    /// Whether the response is a proxy's and not the origin's.
    public let isFromProxy: Bool

    init(_ table: UnsafePointer<nevod_response>) {
        let response = nevod_response(copying: table)
        status = Int(response.status)
        headers = UnsafeBufferPointer(start: response.headers, count: Int(response.header_count))
            .map { ($0.name.string, $0.value.string) }
        body = Secret(copying: response.body.buffer)
        bodyIsCut = response.flags & UInt32(NEVOD_RESPONSE_CUT) != 0
        url = response.url.string
        isFromProxy = response.target_kind == Int32(NEVOD_TARGET_PROXY)
    }

    /// The value of the first line of that name, in any letter case.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// The values of all lines of that name.
    public func headers(named name: String) -> [String] {
        headers.filter { $0.name.equalsIgnoringCase(name) }.map { $0.value }
    }

    /// The body as UTF-8, with replacement characters for invalid bytes. The copy is not wiped.
    public var text: String { String(revealing: body) }

    /// The body as JSON.
    ///
    /// - Throws: ``SchemeError/unavailable(_:detail:)`` if the body isn't JSON, because servers in trouble respond with pages.
    public func json() throws(SchemeError) -> JSONValue {
        do throws(JSONError) {
            return try body.withUnsafeBytes { bytes throws(JSONError) in
                try JSONValue(parsing: Span(_unsafeBytes: bytes))
            }
        } catch {
            throw .unavailable("the server's response (status \(status)) is not valid JSON: \(error)")
        }
    }
}
