/// The origins that a credential is for (RFC 6454).
///
/// ```swift
/// let api = try OriginScope("https://api.example.com", "https://eu.example.com:8443")
/// let session = SchemeSession(instance, storage: storage, shouldAuthenticate: .origins(api))
/// let key = HeadersInterceptor(headers: ["X-API-Key": key]).bound(to: api)
/// ```
///
/// A filter of these origins leaves the credential out elsewhere, as ``RequestFilter`` does for any property of a request. A bound
/// interceptor fails the request instead, so that a mistyped host is an error and not a 401 of a stranger.
public struct OriginScope: Sendable, Hashable {
    /// The origins in the order given, each once.
    public let origins: [Origin]

    /// - Parameter origins: the origins; with none, the credential is for no request.
    public init(_ origins: some Sequence<Origin>) {
        var unique: [Origin] = []
        for origin in origins where !unique.contains(origin) { unique.append(origin) }
        self.origins = unique
    }

    /// - Parameter origins: scheme, host and perhaps port of each.
    /// - Throws: ``InvalidRequestError`` for a text that is no origin; see ``Origin/init(_:)``.
    public init(_ origins: String...) throws(InvalidRequestError) {
        var parsed: [Origin] = []
        for text in origins { parsed.append(try Origin(text)) }
        self.init(parsed)
    }

    /// Whether the credential is for this origin. Scheme, host and port are compared: `http` is not `https`, and a host is not its
    /// subdomain.
    public func contains(_ origin: Origin) -> Bool { origins.contains(origin) }

    /// Checks an origin before a credential is sent to it.
    ///
    /// - Parameters:
    ///   - origin: the origin of the request's URL.
    ///   - credential: the credential's name, for the error.
    /// - Throws: ``OriginScopeError`` for an origin outside of the scope.
    public func check(_ origin: Origin, for credential: String) throws(OriginScopeError) {
        guard contains(origin) else { throw OriginScopeError(credential: credential, scope: self, origin: origin) }
    }
}

extension OriginScope: CustomStringConvertible {
    public var description: String { origins.isEmpty ? "no origin" : origins.map(\.description).joined(separator: ", ") }
}
