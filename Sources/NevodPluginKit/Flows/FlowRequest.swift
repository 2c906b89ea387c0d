internal import NevodPluginABI
public import NevodSupport

/// A request of a flow. The host adds Host and Content-Length. It sends only to origins that settings name, and in a challenge flow
/// to the challenge's origin.
public struct FlowRequest: Sendable {
    /// The method as it is sent: a token (RFC 9110 §9.1).
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The header lines in the order of sending. Lines that define the request's framing or target, such as `Content-Length` and
    /// `Host`, are refused.
    public var headers: [(name: String, value: String)]
    /// The body, at most 1 MiB. A secret, because it may hold passwords.
    public var body: Secret
    /// Whether the host follows redirects, by its own rules and within the origins that settings name. If not, the redirect itself
    /// is the response.
    public var followsRedirects: Bool

    /// Creates a request with any method.
    public init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: Secret = .absent,
        followsRedirects: Bool = true
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.followsRedirects = followsRedirects
    }

    /// A GET request without a body.
    public static func get(
        _ url: String, headers: [(name: String, value: String)] = [], followsRedirects: Bool = true
    ) -> FlowRequest {
        FlowRequest("GET", url, headers: headers, followsRedirects: followsRedirects)
    }

    /// A POST request with an `application/x-www-form-urlencoded` body.
    public static func post(
        _ url: String, form: FormFields, headers: [(name: String, value: String)] = [], followsRedirects: Bool = true
    ) -> FlowRequest {
        FlowRequest(
            "POST", url, headers: [("Content-Type", "application/x-www-form-urlencoded")] + headers, body: form.encoded,
            followsRedirects: followsRedirects)
    }

    /// A POST request with an `application/json` body.
    public static func post(
        _ url: String, json: JSONValue, headers: [(name: String, value: String)] = [], followsRedirects: Bool = true
    ) -> FlowRequest {
        FlowRequest(
            "POST", url, headers: [("Content-Type", "application/json")] + headers, body: json.encoded,
            followsRedirects: followsRedirects)
    }
}

/// The response to a flow's request.
public struct FlowResponse: Sendable {
    /// The status, 100 … 599.
    public let status: Int
    /// All lines in order, none merged: every WWW-Authenticate, every Set-Cookie.
    public let headers: [(name: String, value: String)]
    /// The body, at most 1 MiB. A secret, because it may hold tokens.
    public let body: Secret
    /// Whether the body is longer than ``body``. The host cuts a challenge's body at 64 KiB.
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

    /// The body as JSON. A byte order mark before it is ignored.
    ///
    /// - Throws: ``SchemeError/unavailable(_:detail:)`` if the body isn't JSON, because a server in trouble responds with a page,
    ///   or if one of its objects repeats a name.
    public func json() throws(SchemeError) -> JSONValue {
        do throws(JSONError) {
            return try body.withUnsafeBytes { bytes throws(JSONError) in
                try JSONValue(response: Span(_unsafeBytes: bytes))
            }
        } catch {
            throw .unavailable("the server's response (status \(status)) is not valid JSON: \(error)")
        }
    }
}

/// The reason why a flow's request got no response, or a redirect URI can't be opened: ``SchemeError/transportFailure``.
public enum TransportFailure: Sendable {
    /// A timeout, a refused or broken connection, an unknown host: a retry may help.
    case transient
    /// A failed TLS verification, a malformed response: a retry doesn't help.
    case permanent
    /// The response exceeded the host's limit.
    case tooLarge

    init(_ number: Int32) {
        self =
            switch Int(number) {
            case NEVOD_TRANSPORT_TRANSIENT: .transient
            case NEVOD_TRANSPORT_TOO_LARGE: .tooLarge
            default: .permanent
            }
    }
}
