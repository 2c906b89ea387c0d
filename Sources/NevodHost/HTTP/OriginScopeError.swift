/// A request to another origin than those that its credential is for. Nothing was sent.
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
