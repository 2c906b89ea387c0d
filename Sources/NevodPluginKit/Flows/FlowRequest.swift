public import NevodSupport

/// A request of a flow. The host adds Host and Content-Length, and sends only to origins that settings name.
public struct FlowRequest: Sendable {
    /// A token (RFC 9110 §9.1), as it is sent.
    public var method: String
    /// Absolute.
    public var url: String
    /// In the order of sending. Those that say where a request ends, `Host` and `Content-Length` among them, are refused.
    public var headers: [(name: String, value: String)]
    /// At most 1 MiB. Wiped when nobody holds it any more, since passwords are in it.
    public var body: Secret
    /// Whether the host follows redirects, by its own rules and within the origins that settings name. Otherwise a redirect is
    /// the response.
    public var followsRedirects: Bool

    /// For methods that have no form of their own here.
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

    /// Without a body.
    public static func get(
        _ url: String, headers: [(name: String, value: String)] = [], followsRedirects: Bool = true
    ) -> FlowRequest {
        FlowRequest("GET", url, headers: headers, followsRedirects: followsRedirects)
    }

    /// With an `application/x-www-form-urlencoded` body.
    public static func post(
        _ url: String, form: FormFields, headers: [(name: String, value: String)] = [], followsRedirects: Bool = true
    ) -> FlowRequest {
        FlowRequest(
            "POST", url, headers: [("Content-Type", "application/x-www-form-urlencoded")] + headers, body: form.encoded,
            followsRedirects: followsRedirects)
    }

    /// With an `application/json` body.
    public static func post(
        _ url: String, json: JSONValue, headers: [(name: String, value: String)] = [], followsRedirects: Bool = true
    ) -> FlowRequest {
        FlowRequest(
            "POST", url, headers: [("Content-Type", "application/json")] + headers, body: json.encoded,
            followsRedirects: followsRedirects)
    }
}
