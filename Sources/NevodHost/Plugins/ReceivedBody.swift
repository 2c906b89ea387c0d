internal import NevodPluginABI

/// The parts of a response's body that `on_response` may see.
struct ReceivedBody: Sendable {
    /// The first bytes of a challenge; one more than the limit if it is longer.
    var head: [UInt8] = []
    /// Whether there may be more of the body than ``head``.
    var isCut = false
    /// Nil if the scheme needs none, or if the bytes are not those that were received.
    var digests: ResponseDigests?
    /// Whether `on_response` runs when the caller has read the body to its end.
    var isShownAtEnd = false

    /// The most bytes of a challenge's body.
    static let limit = Int(NEVOD_LIMIT_CHALLENGE_BODY)
}

extension SchemeInstance {
    /// Returns the response as the scheme sees it.
    ///
    /// - Parameter body: the parts of a body that was received as a stream.
    func shown(_ response: HTTPResponse, _ body: ReceivedBody, to request: HTTPRequest) -> FlowResponse {
        var head = body.head
        if case .bytes(let bytes) = response.body { head = bytes }
        let showsBody = needs.challengeBody && needs.isChallenge(response, to: request.method, from: target)
        return FlowResponse(
            status: response.status, isFromProxy: target == .proxy, headers: response.headers,
            body: showsBody ? Array(head.prefix(ReceivedBody.limit)) : [],
            isCut: showsBody && (body.isCut || head.count > ReceivedBody.limit), digests: body.digests?.values ?? [],
            url: request.url)
    }
}
