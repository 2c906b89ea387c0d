/// When a token is put on a request.
public enum TokenPhase: Sendable {
    /// At the interceptor's position in the chain.
    case credential
    /// After the whole chain, on every attempt, so that no interceptor can change what was signed.
    case signature
}
