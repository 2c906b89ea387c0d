internal import NevodSupport

/// The pace at which a device asks for its token (RFC 8628 §3.5).
package struct DevicePolling: Sendable {
    /// The seconds until the next request.
    package private(set) var interval: Int64
    /// The number of requests that failed in a row.
    package private(set) var failures = 0

    /// The longest interval in seconds that failures lead to.
    private static let longest: Int64 = 60
    /// The longest wait in seconds that a server may ask for: one that asks for more by mistake must not use up the code's
    /// lifetime.
    private static let longestAsked: Int64 = 300

    package init(interval: Int64) {
        self.interval = interval
    }

    /// Takes the outcome of a request that gave no token.
    ///
    /// - Parameters:
    ///   - code: the server's error code; nil if it sent none.
    ///   - status: the response's status; nil if there was no response.
    ///   - mayPass: whether a later request may succeed.
    ///   - asked: the seconds that the server asks to wait; nil if it doesn't ask.
    /// - Returns: false if the server will issue no token.
    package mutating func shouldContinue(after code: String?, status: Int?, mayPass: Bool, asked: Int64?) -> Bool {
        let asked = min(asked ?? 0, Self.longestAsked)
        switch code {
        case "authorization_pending": failures = 0
        case "slow_down":
            failures = 0
            interval = max(interval + 5, asked)
        default:
            // Redirects are not followed. Without a code, the other statuses say that the URL doesn't serve such requests, and
            // won't later.
            let isElsewhere = status.map { (300...399).contains($0) || [401, 404, 405, 410].contains($0) } ?? false
            guard mayPass, code != nil || !isElsewhere else { return false }
            failures += 1
            // A server that doesn't respond is asked less often.
            interval = max(interval, min(interval * 2, Self.longest), asked)
        }
        return true
    }
}
