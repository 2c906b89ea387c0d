internal import NevodHost
internal import NevodJWT

/// Decides when an issuer's keys are fetched. A state machine without a clock: callers pass the time.
struct KeySetSchedule: Sendable {
    enum Action: Sendable {
        case use(JSONWebKeySet)
        /// The call uses these keys, and newer ones are fetched meanwhile.
        case useAndFetch(JSONWebKeySet, Fetch)
        /// The call waits for a fetch, or joins the one in progress.
        case fetch(Fetch)
        case fail(RemoteKeyError)
    }

    struct Fetch: Sendable {
        /// Whether to ask the server even if a stored response could be used.
        let reloads: Bool
        /// The number of fetches that had finished when this one was decided.
        let number: Int
    }

    private let settings: RemoteKeySet.Settings
    private var keys: JSONWebKeySet?
    private var fetchedAt: UnixTime?
    private var unknownAt: UnixTime?
    private var retryAt: UnixTime?
    private var failures = 0
    private var lastError: RemoteKeyError?
    private var finished = 0
    private var isFetching = false
    /// Whether the fetch in progress, or else the last one, has asked the server.
    private var hasAsked = false

    private static let backoff = RetryPolicy(baseDelay: .seconds(1), maxDelay: .seconds(60))
    /// The longest pause that a server can ask for.
    private static let longestPause = Duration.seconds(300)

    init(_ settings: RemoteKeySet.Settings) {
        self.settings = settings
    }

    /// - Parameters:
    ///   - joined: the fetch that the call joined, if any. If a fetch has finished since then, the call makes do with the known
    ///     keys. Otherwise the joined fetch was just ending or no longer needed, and the call decides again.
    ///   - fits: whether a set has a key for the token.
    mutating func next(after joined: Fetch?, at now: UnixTime, fits: (JSONWebKeySet) -> Bool) -> Action {
        let hasWaited = joined.map { $0.number != finished } ?? false
        guard let keys, let fetchedAt,
            (hasWaited && lastError == nil) || now - fetchedAt <= max(settings.minimumAge, settings.maximumStaleness)
        else {
            guard let lastError, hasWaited || isPaused(at: now) else { return .fetch(fetch(reloads: true)) }
            return .fail(lastError)
        }
        let isKnown = fits(keys)
        if hasWaited, isKnown || hasAsked {
            // The fetch counts as the one for unknown keys, since it has just looked for this key.
            if !isKnown { unknownAt = now }
            return .use(keys)
        }
        if has(settings.minimumAge, passedSince: fetchedAt, at: now), !isPaused(at: now) {
            // A verification with known keys must not wait for a server that has failed before.
            return failures > 0 && isKnown ? .useAndFetch(keys, fetch(reloads: false)) : .fetch(fetch(reloads: !isKnown))
        }
        if isKnown { return .use(keys) }
        // The key may be in the set that is just being fetched.
        if isFetching { return .fetch(fetch(reloads: true)) }
        let mayAsk = unknownAt.map { has(settings.unknownKeyInterval, passedSince: $0, at: now) } ?? true
        return mayAsk && !isPaused(at: now) ? .fetch(fetch(reloads: true)) : .use(keys)
    }

    /// Returns whether a fetch is still needed: another one may have finished since it was decided.
    mutating func begin(_ fetch: Fetch, at now: UnixTime) -> Bool {
        guard fetch.number == finished else { return false }
        isFetching = true
        hasAsked = fetch.reloads
        // If keys are known, only an unknown key causes a reload.
        if fetch.reloads, keys != nil { unknownAt = now }
        return true
    }

    /// - Parameter fits: whether a set has a key for the token that caused the fetch.
    mutating func finish(
        _ result: Result<JSONWebKeySet, RemoteKeyError>, at now: UnixTime, fits: (JSONWebKeySet) -> Bool
    ) {
        isFetching = false
        finished &+= 1
        switch result {
        case .success(let set):
            keys = set
            fetchedAt = now
            failures = 0
            retryAt = nil
            lastError = nil
            // Noted before any other call can decide: the fetch has just looked for this key.
            if hasAsked, !fits(set) { unknownAt = now }
        case .failure(let error):
            failures = min(failures + 1, 100)
            retryAt = now + min(error.retryAfter ?? Self.backoff.delay(after: failures), Self.longestPause)
            lastError = error
        }
    }

    private func fetch(reloads: Bool) -> Fetch { Fetch(reloads: reloads, number: finished) }

    /// If the rest of the pause is longer than any pause can be, the clock was set back, and the pause is ignored.
    private func isPaused(at now: UnixTime) -> Bool {
        guard let retryAt else { return false }
        return now < retryAt && retryAt - now <= Self.longestPause
    }

    /// Also true if the clock was set back.
    private func has(_ interval: Duration, passedSince time: UnixTime, at now: UnixTime) -> Bool {
        now < time || now - time >= interval
    }
}
