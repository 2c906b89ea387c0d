internal import NevodSupport

extension Origin {
    /// Parses an origin: a scheme, a host and perhaps a port, as in `https://api.example.com:8443`.
    ///
    /// Anything more is refused, since it would look like a limit that an origin can't express: a path, a query, a fragment, and
    /// a user. One slash at the end is allowed.
    ///
    /// - Throws: ``InvalidRequestError``, whose ``InvalidRequestError/problem`` holds nothing of the text but its origin.
    public init(_ text: String) throws(InvalidRequestError) {
        let url = try HTTPURL(text)
        let start = text.range(ofASCII: "://")?.upperBound ?? text.startIndex
        let rest = text.utf8[start...].drop { !"/?#\\".utf8.contains($0) }
        guard rest.isEmpty || rest.elementsEqual("/".utf8) else {
            throw InvalidRequestError(.url(text), "an origin is a scheme, a host and perhaps a port; write \(url.origin)")
        }
        self = url.origin
    }

    /// The origin of a URL (RFC 6454 §4).
    ///
    /// - Throws: ``InvalidRequestError`` for a URL that no request can have.
    public init(ofURL url: String) throws(InvalidRequestError) {
        self = try HTTPURL(url).origin
    }
}
