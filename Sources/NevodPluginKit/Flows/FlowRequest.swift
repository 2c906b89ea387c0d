public import NevodSupport

/// A request of a flow. The host adds Host and Content-Length, and sends only to origins that settings name;
/// in a challenge flow also to the origin of the challenge.
public struct FlowRequest: Sendable {
    /// The method as it is sent: a token (RFC 9110 §9.1).
    public var method: String
    /// The absolute URL.
    public var url: String
    /// The header lines in the order of sending. Lines that define the request's framing or target, such as `Content-Length` and `Host`,
    /// are refused.
    public var headers: [(name: String, value: String)]
    /// The body, at most 1 MiB. A secret, because it may hold passwords.
    public var body: Secret
    /// Whether the host follows redirects, by its own rules and within the origins that settings name. Otherwise a redirect is returned
    /// as the response.
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
