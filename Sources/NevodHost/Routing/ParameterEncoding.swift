/// Where a route's parameters stand in its request, and how they are written.
public enum ParameterEncoding: Sendable, Hashable {
    /// In the query of the URL, percent-encoded (RFC 3986 §2.1).
    case query
    /// In the body, as a JSON object of strings (RFC 8259).
    case json
    /// In the body, as browsers send forms: `application/x-www-form-urlencoded` (WHATWG URL §5.2).
    case form
    /// Nowhere.
    case none

    /// ``form``, under the name that Nevod has for it.
    public static var formURLEncoded: ParameterEncoding { .form }
    /// As Nevod spells it.
    public static var formUrlEncoded: ParameterEncoding { .form }
}
