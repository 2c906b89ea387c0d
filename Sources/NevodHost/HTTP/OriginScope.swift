/// The origins that a credential is for (RFC 6454).
///
/// ```swift
/// let api = try OriginScope("https://api.example.com", "https://eu.example.com:8443")
/// let session = SchemeSession(instance, storage: storage, shouldAuthenticate: .origins(api))
/// let key = HeadersInterceptor(headers: ["X-API-Key": key]).bound(to: api)
/// ```
///
/// A filter of origins leaves the credential out of requests to other origins, as any ``RequestFilter`` leaves it out of requests
/// that it doesn't match. A bound interceptor fails such a request instead, so that a mistyped host causes an error instead of a
/// 401 from a stranger's server.
public struct OriginScope: Sendable, Hashable {
    /// The origins in the order given, each once.
    public let origins: [Origin]

    /// - Parameter origins: the origins. If there are none, no request gets the credential.
    public init(_ origins: some Sequence<Origin>) {
        var unique: [Origin] = []
        for origin in origins where !unique.contains(origin) { unique.append(origin) }
        self.origins = unique
    }

    /// - Parameter origins: scheme, host and perhaps port of each.
    /// - Throws: ``InvalidRequestError`` for a text that is not an origin; see ``Origin/init(_:)``.
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

/// A request to an origin that its credential is not for. Nothing was sent.
public struct OriginScopeError: Error, Sendable, Hashable {
    /// The credential: the name of its interceptor or scheme.
    public let credential: String
    /// The origins that the credential is for.
    public let scope: OriginScope
    /// The origin of the request.
    public let origin: Origin
}

extension OriginScopeError: CustomStringConvertible {
    public var description: String {
        "\(credential) is for \(scope), and the request is for \(origin); add that origin to its OriginScope, or send the request "
            + "without it"
    }
}
