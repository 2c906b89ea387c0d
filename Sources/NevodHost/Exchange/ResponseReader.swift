/// An interceptor that reads the bodies of responses, to check them or to learn from them, before the caller does. (An
/// ``OutcomeObserver``, in contrast, sees only what the caller gets.)
protocol ResponseReader: RequestInterceptor {
    /// Whether it reads any bodies. Fixed for the interceptor's lifetime.
    var readsBodies: Bool { get }

    /// Whether it needs each byte of the responses to this request as received. They are then received as a stream, whatever
    /// delivery the caller asked for, and without a content coding that the transport would undo.
    func readsWholeBody(of exchange: Exchange) -> Bool

    /// Returns the response with a body that is read through this interceptor. Called after each response, before `retry`.
    ///
    /// - Parameters:
    ///   - isDecoded: whether the transport has undone a content coding of the body.
    ///   - exchange: keeps what `retry` needs.
    func read(
        _ response: HTTPResponse, isDecoded: Bool, _ exchange: inout Exchange
    ) async throws(TransportError) -> HTTPResponse
}
