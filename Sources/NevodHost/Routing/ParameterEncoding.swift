/// How a route's parameters are encoded, and in which part of the request.
public enum ParameterEncoding: Sendable, Hashable {
    /// In the query of the URL, percent-encoded (RFC 3986 §2.1).
    case query
    /// In the body, as a JSON object of strings (RFC 8259).
    case json
    /// In the body, as browsers encode forms: `application/x-www-form-urlencoded` (WHATWG URL §5.2).
    case formURLEncoded
    /// Not sent.
    case none

    /// ``formURLEncoded`` in Nevod's spelling.
    public static var formUrlEncoded: ParameterEncoding { .formURLEncoded }

    /// The previous name of ``formURLEncoded``.
    @available(*, deprecated, renamed: "formURLEncoded")
    public static var form: ParameterEncoding { .formURLEncoded }
}
