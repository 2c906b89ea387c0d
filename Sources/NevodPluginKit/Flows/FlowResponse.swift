internal import NevodPluginABI
public import NevodSupport

/// What a server answered to a flow's request.
public struct FlowResponse: Sendable {
    /// 100 … 599.
    public let status: Int
    /// Every line in order, nothing merged: all of WWW-Authenticate, all of Set-Cookie.
    public let headers: [(name: String, value: String)]
    /// At most 1 MiB. Wiped when nobody holds it any more, since tokens are in it.
    public let body: Secret
    /// What answered, after the redirects that the host followed.
    public let url: String
    /// Whether a proxy answered, and not the origin.
    public let isFromProxy: Bool

    init(_ table: UnsafePointer<nevod_response>) {
        let response = table.pointee
        status = Int(response.status)
        headers = UnsafeBufferPointer(start: response.headers, count: Int(response.header_count))
            .map { ($0.name.string, $0.value.string) }
        body = Secret(copying: response.body.buffer)
        url = response.url.string
        isFromProxy = response.target_kind == Int32(NEVOD_TARGET_PROXY)
    }

    /// The value of the first line of that name, in any case of letters.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.equalsIgnoringCase(name) }?.value
    }

    /// The values of all lines of that name.
    public func headers(named name: String) -> [String] {
        headers.filter { $0.name.equalsIgnoringCase(name) }.map(\.value)
    }

    /// The body as UTF-8, with replacement characters for what isn't. The copy is not wiped.
    public var text: String { String(revealing: body) }

    /// The body as JSON.
    ///
    /// - Throws: ``SchemeError/unavailable(_:detail:)`` where it is none: servers in trouble answer with pages.
    public func json() throws(SchemeError) -> JSONValue {
        do throws(JSONError) {
            return try body.withUnsafeBytes { bytes throws(JSONError) in try JSONValue(parsing: bytes) }
        } catch {
            throw .unavailable("the server's answer (status \(status)) is no JSON that can be read: \(error)")
        }
    }
}

/// A flow's request has no answer, or a redirect URI can't be opened.
public struct FlowTransportError: Error, Sendable, CustomStringConvertible {
    /// Whether another attempt may help.
    public enum Kind: Sendable {
        /// A time-out, a refused or broken connection, an unknown host: may pass.
        case transient
        /// TLS verification, a malformed answer.
        case permanent
        /// The answer passed the host's limit.
        case tooLarge
    }

    /// Whether another attempt may help.
    public let kind: Kind
    /// The host's words. Safe to show.
    public let message: String
    public var description: String { message }

    init(_ event: nevod_event) {
        kind =
            switch Int(event.transport_error) {
            case NEVOD_TRANSPORT_TRANSIENT: .transient
            case NEVOD_TRANSPORT_TOO_LARGE: .tooLarge
            default: .permanent
            }
        message = event.message.string
    }
}
