/// When a token goes on a request.
public enum TokenPhase: Sendable {
    /// At the interceptor's place in the chain.
    case credential
    /// After the whole chain, on every attempt, so that nobody can change what has been signed.
    case signature
}
