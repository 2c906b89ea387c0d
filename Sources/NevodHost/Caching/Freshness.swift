extension StoredResponse {
    /// The longest heuristic lifetime: one day. RFC 9111 §4.2.2 leaves the limit to the cache.
    static let maxHeuristicLifetime = Duration.seconds(86_400)

    /// The statuses that may be stored without explicit permission (RFC 9110 §15.1), except 206: parts aren't stored.
    static let heuristicallyCacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    /// `current_age` (RFC 9111 §4.2.3); nil if unknown, because the clock was set back after the response arrived.
    func age(at now: UnixTime) -> Duration? {
        now < receivedAt ? nil : initialAge + (now - receivedAt)
    }

    /// `freshness_lifetime` (RFC 9111 §4.2.1).
    ///
    /// - Parameter timeToLive: the client's choice, if it has made one.
    func lifetime(_ timeToLive: TimeToLive? = nil) -> Duration {
        timeToLive?.lifetime(of: self) ?? statedLifetime ?? suggestedLifetime
    }

    /// Whether the response is fresh (RFC 9111 §4.2).
    func isFresh(at now: UnixTime, _ timeToLive: TimeToLive? = nil) -> Bool {
        age(at: now).map { lifetime(timeToLive) > $0 } ?? false
    }

    /// The larger of two estimates: one from the origin's Date, one from the Age that caches on the way report (RFC 9111 §4.2.3).
    static func initialAge(
        _ headers: HTTPHeaders, date: UnixTime, requestedAt: UnixTime, receivedAt: UnixTime
    ) -> Duration {
        let apparent = max(.zero, receivedAt - date)
        let delay = max(.zero, receivedAt - requestedAt)
        // The first of several values counts. A value that isn't a number is ignored (§5.1).
        let reported = headers["Age"].flatMap { $0.split(separator: ",").first.map(String.init) }.flatMap(CacheControl.seconds)
        return max(apparent, (reported ?? .zero) + delay)
    }

    /// The lifetime that the server states: max-age, or else Expires (RFC 9111 §4.2.1). s-maxage is for shared caches only.
    ///
    /// - Returns: nil if the server states none.
    static func statedLifetime(_ headers: HTTPHeaders, _ control: CacheControl, date: UnixTime) -> Duration? {
        // An invalid max-age makes the response stale (§4.2.1).
        if let maxAge = control.duration("max-age", broken: .zero) { return maxAge }
        let expires = headers.values(of: "Expires")
        guard let first = expires.first else { return nil }
        // "0" and other invalid dates mean that the response has expired (§5.3).
        guard expires.allSatisfy({ $0 == first }), let expiry = HTTPDate.parse(first) else { return .zero }
        return max(.zero, expiry - date)
    }

    /// The heuristic: a tenth of the time since the last modification (RFC 9111 §4.2.2).
    static func suggestedLifetime(_ status: Int, _ headers: HTTPHeaders, _ control: CacheControl, date: UnixTime) -> Duration {
        guard heuristicallyCacheable.contains(status) || control.contains("public"),
            let modified = headers["Last-Modified"].flatMap(HTTPDate.parse)
        else { return .zero }
        return min(max(.zero, (date - modified) / 10), maxHeuristicLifetime)
    }
}
