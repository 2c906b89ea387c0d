internal import NevodSupport
internal import Synchronization

/// Tells a scheme the time on the clock of each origin that it sends to.
///
/// A correction is used only for its own origin. A server that sends a wrong `Date` can obtain signatures for a time up to a day
/// away, but only signatures that are sent to that server. The expiry of a token is always checked by the local clock.
final class ServerClocks: Sendable {
    private struct Entry {
        var clock = ServerClock()
        /// The last `Date` and its value. A busy server repeats it for up to a second, and parsing takes longer than comparing.
        var text = ""
        var date: UnixTime?
    }

    private struct Table {
        var entries: [Origin: Entry] = [:]
        /// The number of entries whose clock is corrected.
        var corrected = 0
    }

    /// Limits the memory for a program that talks to many origins. Dropping an entry costs at most one refused request.
    private static let most = 1000
    private static let second: Int64 = 1_000_000_000
    /// The longest `Date` that is parsed, in bytes. The longest valid one is 33 bytes long.
    private static let longestDate = 64

    /// The local clock.
    let wall: HostClock
    private let uptime: @Sendable () -> Int64
    private let table = Locked(Table())
    private let hasCorrections = Atomic(false)

    /// - Parameters:
    ///   - wall: the local clock.
    ///   - uptime: a clock that can't be set, in nanoseconds.
    init(_ wall: HostClock, uptime: @escaping @Sendable () -> Int64 = { Uptime.nanoseconds }) {
        self.wall = wall
        self.uptime = uptime
    }

    /// Whether any clock is corrected. If not, ``wall`` is right for every origin, and reading it takes neither a lock nor a
    /// search.
    var isCorrecting: Bool { hasCorrections.load(ordering: .relaxed) }

    /// Returns the time on the clock of an origin, in nanoseconds since 1970, at least 0.
    ///
    /// - Parameter origin: nil for the local time.
    func nanoseconds(at origin: Origin?) -> Int64 {
        let now = wall.unixNanoseconds()
        guard isCorrecting, let origin else { return now }
        return max(0, now + correction(of: now, at: origin))
    }

    /// Returns the difference between the clock of an origin and the local one, in nanoseconds; 0 if none is known.
    func correction(at origin: Origin?) -> Int64 {
        guard isCorrecting, let origin else { return 0 }
        return correction(of: wall.unixNanoseconds(), at: origin)
    }

    private func correction(of now: Int64, at origin: Origin) -> Int64 {
        let uptime = uptime()
        return table.withLock { table in
            // If the last response needed no correction, the local clock is trusted until the next response. It may differ from
            // the uptime by then, but the uptime may be the wrong one, for example after a virtual machine was resumed.
            guard let clock = table.entries[origin]?.clock, clock.isCorrected else { return 0 }
            return clock.correction(of: now, at: uptime)
        }
    }

    /// The uptime to pass to ``learn(from:to:sentAt:_:)``, in nanoseconds.
    func uptimeNow() -> Int64 { uptime() }

    /// Learns from a response's `Date`, if only the origin can have written it. Call right after the response has arrived.
    ///
    /// - Parameters:
    ///   - sent: the uptime before the request was sent.
    ///   - logger: receives a line if a correction begins, ends or changes by more than 5 s.
    func learn(from response: HTTPResponse, to origin: Origin, sentAt sent: Int64, _ logger: (any NetworkLogger)?) {
        let received = uptime()
        // A 407 is a proxy's own response.
        guard origin.isAuthentic, response.status != 407, let age = Self.largestAge(of: response.headers),
            case let dates = response.headers.values(of: "Date"), let text = dates.first, dates.count == 1,
            text.utf8.count <= Self.longestDate
        else { return }
        let now = wall.unixNanoseconds()
        let change = table.withLock { table -> ServerClock.Change in
            var entry = table.entries[origin] ?? Entry()
            if entry.text != text {
                entry.date = HTTPDate.parse(text)
                entry.text = text
            }
            guard let date = entry.date else { return .none }
            if entry.clock.isCorrected { table.corrected -= 1 }
            let change = entry.clock.learn(date, sentAt: sent - age, receivedAt: received, wall: now)
            if entry.clock.isCorrected { table.corrected += 1 }
            if table.entries[origin] == nil { Self.makeRoom(&table) }
            table.entries[origin] = entry
            hasCorrections.store(table.corrected > 0, ordering: .relaxed)
            return change
        }
        switch change {
        case .none: break
        case .corrected, .agrees: logger?.info(change.text(at: origin))
        case .tooFar: logger?.notice(change.text(at: origin))
        }
    }

    private static func makeRoom(_ table: inout Table) {
        guard table.entries.count >= most, let victim = table.entries.keys.first,
            let entry = table.entries.removeValue(forKey: victim)
        else { return }
        if entry.clock.isCorrected { table.corrected -= 1 }
    }

    /// Returns the longest time that the response may have been stored before the request was sent, in nanoseconds; nil if
    /// unknown. `Age` counts whole seconds (RFC 9111 §5.1), so 0 means less than one. Caches write it even if they had to fetch
    /// the response.
    private static func largestAge(of headers: HTTPHeaders) -> Int64? {
        let ages = headers.values(of: "Age")
        if ages.isEmpty { return 0 }
        return ages.allSatisfy { $0 == "0" } ? second : nil
    }
}

extension ServerClock.Change {
    /// The line for the log: `the clock of https://api.example.com is 1 h 0 min ahead of this machine's; signatures use its time`.
    func text(at origin: Origin) -> String {
        func clock(_ difference: Int64) -> String {
            "the clock of \(origin) is \(Self.text(difference.magnitude)) \(difference > 0 ? "ahead of" : "behind") this machine's"
        }
        return switch self {
        case .none: ""
        case .corrected(let difference): "\(clock(difference)); signatures use its time"
        case .agrees: "the clock of \(origin) agrees with this machine's again; signatures use this machine's time"
        case .tooFar(let difference):
            "\(clock(difference)), more than the day that is corrected; signatures use this machine's time: set the clock that is wrong"
        }
    }

    /// Rounded, because an estimate is about a second off: a clock that is an hour ahead seldom shows as 3,600 s.
    private static func text(_ nanoseconds: UInt64) -> String {
        let seconds = (nanoseconds + 500_000_000) / 1_000_000_000
        let (minutes, hours) = ((seconds + 30) / 60, (seconds + 1800) / 3600)
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 600 { return "\(seconds / 60) min \(seconds % 60) s" }
        if minutes < 60 { return "\(minutes) min" }
        return minutes <= 24 * 60 ? "\(minutes / 60) h \(minutes % 60) min" : "\(hours / 24) d \(hours % 24) h"
    }
}

/// The clocks that schemes used to sign one attempt, and whether the request was signed again because a clock was wrong.
struct SigningClocks: Sendable {
    private struct Use {
        let clocks: ServerClocks
        /// In nanoseconds.
        let correction: Int64
    }

    private var uses: [Use] = []
    private var hasSignedAgain = false

    /// Forgets the clocks of the last attempt. A request is signed again once, whatever the number of its attempts and redirects.
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

    /// Returns whether to sign a request again and send it once more: the server has refused it with 401 or 403, and its clock,
    /// as now known, differs from the time that was signed. The method doesn't matter, because a refused request had no effect.
    mutating func shouldSignAgain(_ request: HTTPRequest, after response: HTTPResponse) -> Bool {
        guard response.status == 401 || response.status == 403, !hasSignedAgain, request.body.canBeMadeAgain else { return false }
        hasSignedAgain = uses.contains {
            ($0.clocks.correction(at: request.origin) - $0.correction).magnitude > ServerClock.noticeable
        }
        return hasSignedAgain
    }
}
