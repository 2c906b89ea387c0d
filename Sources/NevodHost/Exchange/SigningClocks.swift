/// The clocks by which the schemes of one attempt signed it, and whether the request was signed again because of them.
struct SigningClocks: Sendable {
    private struct Use {
        let clocks: ServerClocks
        /// In nanoseconds.
        let correction: Int64
    }

    private var uses: [Use] = []
    private var hasSignedAgain = false

    /// Forgets the last attempt's. A request is signed again once, with all its attempts and redirects.
    mutating func beginAttempt() {
        uses.removeAll(keepingCapacity: true)
    }

    /// Records that a scheme is about to sign a request to an origin.
    mutating func record(_ clocks: ServerClocks, at origin: Origin) {
        uses.append(Use(clocks: clocks, correction: clocks.correction(at: origin)))
    }

    /// The uptime before sending, in nanoseconds; nil if no scheme has signed the attempt.
    func uptimeNow() -> Int64? { uses.first?.clocks.uptimeNow() }

    /// Learns from the response to the attempt.
    ///
    /// - Parameter sent: the uptime before the attempt was sent; nil to learn nothing.
    func learn(from response: HTTPResponse, to origin: Origin, sentAt sent: Int64?, _ logger: (any NetworkLogger)?) {
        guard let sent else { return }
        for use in uses { use.clocks.learn(from: response, to: origin, sentAt: sent, logger) }
    }

    /// Returns whether to sign a request again and send it once more: the server has refused it with 401 or 403, and its clock, as
    /// known now, is not the one that it was signed with. The method doesn't matter, since a refused request had no effect.
    mutating func shouldSignAgain(_ request: HTTPRequest, after response: HTTPResponse) -> Bool {
        guard response.status == 401 || response.status == 403, !hasSignedAgain, request.body.canBeMadeAgain else { return false }
        hasSignedAgain = uses.contains {
            ($0.clocks.correction(at: request.origin) - $0.correction).magnitude > ServerClock.noticeable
        }
        return hasSignedAgain
    }
}
