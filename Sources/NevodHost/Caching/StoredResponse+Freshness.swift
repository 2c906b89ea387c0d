extension StoredResponse {
    /// No guess makes an answer fresh for longer than a day, the limit that RFC 9111 §4.2.2 leaves to a cache.
    static let longestGuess = Duration.seconds(86_400)

    /// Statuses whose answers may be stored without a word from the server (RFC 9110 §15.1), but for 206: parts aren't stored.
    static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// `current_age` (RFC 9111 §4.2.3). Nil when the clock was set back since the arrival: then nobody knows.
    func age(at now: UnixTime) -> Duration? {
        now < receivedAt ? nil : initialAge + (now - receivedAt)
    }

    /// RFC 9111 §4.2.
    func isFresh(at now: UnixTime) -> Bool {
        age(at: now).map { lifetime > $0 } ?? false
    }

    /// The larger of two estimates: by the origin's clock, and by the caches on the way (RFC 9111 §4.2.3).
    static func initialAge(
        _ headers: HTTPHeaders, date: UnixTime, requestedAt: UnixTime, receivedAt: UnixTime
    ) -> Duration {
        let apparent = max(.zero, receivedAt - date)
        let delay = max(.zero, receivedAt - requestedAt)
        // Of several, the first counts; one that is no number doesn't (§5.1).
        let said = headers["Age"].flatMap { $0.split(separator: ",").first.map(String.init) }.flatMap(CacheControl.seconds)
        return max(apparent, (said ?? .zero) + delay)
    }

    /// By precedence: max-age, Expires, a guess (RFC 9111 §4.2.1). s-maxage is for shared caches.
    static func lifetime(_ status: Int, _ headers: HTTPHeaders, _ control: CacheControl, date: UnixTime) -> Duration {
        // What can't be read makes an answer stale (§4.2.1).
        if let maxAge = control.duration("max-age", broken: .zero) { return maxAge }
        let expires = headers.values(of: "Expires")
        if let first = expires.first {
            // Also "0", and other dates that aren't (§5.3).
            guard expires.allSatisfy({ $0 == first }), let end = HTTPDate.parse(first) else { return .zero }
            return max(.zero, end - date)
        }
        // A guess: a tenth of the time for which it hadn't changed (§4.2.2).
        guard heuristicallyCacheable.contains(status) || control.contains("public"),
            let modified = headers["Last-Modified"].flatMap(HTTPDate.parse)
        else { return .zero }
        return min(max(.zero, (date - modified) / 10), longestGuess)
    }
}
