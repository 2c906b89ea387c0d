import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests the estimate of a server's clock with invented times.
struct ServerClockTests {
    private static let second: Int64 = 1_000_000_000
    private static let hour = 3600 * second
    private static let day = 24 * hour
    /// The local time when the uptime is zero.
    private static let start = 1_700_000_000 * second

    /// The response to a request that was sent at this uptime, from a server whose clock is ahead.
    private func learn(
        _ clock: inout ServerClock, ahead: Int64, sentAt sent: Int64, took: Int64 = 0, wallAhead: Int64 = 0
    ) -> ServerClock.Change {
        // Generated on arrival and truncated to the second.
        let date = UnixTime(seconds: UnixTime(nanoseconds: Self.start + sent + took + ahead).seconds)
        return clock.learn(
            date, sentAt: sent, receivedAt: sent + took, wall: Self.start + sent + took + wallAhead)
    }

    private func corrected(_ change: ServerClock.Change) -> Int64? {
        if case .corrected(let difference) = change { difference } else { nil }
    }

    private func tooFar(_ change: ServerClock.Change) -> Int64? {
        if case .tooFar(let difference) = change { difference } else { nil }
    }

    private func correction(_ clock: ServerClock, at uptime: Int64, wallAhead: Int64 = 0) -> Int64 {
        clock.correction(of: Self.start + uptime + wallAhead, at: uptime)
    }

    @Test(arguments: [0, second / 2, -second / 4, 3 * second])
    func `A difference within the resolution of a Date and the round trip is not corrected`(ahead: Int64) {
        var clock = ServerClock()
        // Generated early in the round trip.
        let date = UnixTime(seconds: UnixTime(nanoseconds: Self.start + ahead).seconds)
        let took = abs(ahead)
        #expect(clock.learn(date, sentAt: 0, receivedAt: took, wall: Self.start + took) == .none)
        #expect(!clock.isCorrected)
        #expect(correction(clock, at: took + Self.second) == 0)
    }

    @Test(arguments: [hour, -hour, 7 * second, -7 * second, day - second, -day + second])
    func `A larger difference is corrected to a second and the round trip`(ahead: Int64) throws {
        var clock = ServerClock()
        let took = Self.second / 10
        let change = try #require(corrected(learn(&clock, ahead: ahead, sentAt: Self.second / 3, took: took)))
        #expect(clock.isCorrected)
        #expect((change - ahead).magnitude <= Self.second + took)
        #expect(change.magnitude <= ahead.magnitude + UInt64(Self.second))
        #expect(correction(clock, at: Self.second / 3 + took) == change)
    }

    @Test func `The correction is the smallest that the responses allow`() {
        var clock = ServerClock()
        let (sent, received) = (Self.second / 2, 3 * Self.second / 4)
        // Date − arrival: an hour less 0.75 s. Date + 1 s − sending: an hour and 0.5 s.
        _ = clock.learn(
            UnixTime(nanoseconds: Self.start + Self.hour), sentAt: sent, receivedAt: received, wall: Self.start + received)
        #expect((correction(clock, at: received) - Self.hour + received).magnitude < 100_000)
        // The same from the other side: the server's clock is slow.
        var behind = ServerClock()
        _ = behind.learn(
            UnixTime(nanoseconds: Self.start - Self.hour), sentAt: sent, receivedAt: received, wall: Self.start + received)
        #expect((correction(behind, at: received) + Self.hour + sent - Self.second).magnitude < 100_000)
    }

    @Test func `Responses narrow the interval, and the correction only grows until it is right`() {
        var clock = ServerClock()
        var last: Int64 = 0
        for index in 0..<50 {
            // Each response is 20 ms later within the second.
            _ = learn(&clock, ahead: Self.hour, sentAt: Int64(index) * 1_020_000_000)
            let correction = correction(clock, at: Int64(index) * 1_020_000_000)
            // Minus the drift by which an interval is widened.
            #expect(correction >= last - 200_000)
            #expect(correction <= Self.hour)
            last = correction
        }
        #expect(Self.hour - last < Self.second / 40)
    }

    @Test func `A server whose clock is set gets a new estimate, reported once`() throws {
        var clock = ServerClock()
        #expect(corrected(learn(&clock, ahead: Self.hour, sentAt: 0)) != nil)
        #expect(learn(&clock, ahead: Self.hour, sentAt: Self.second) == .none)
        let change = try #require(corrected(learn(&clock, ahead: -2 * Self.hour, sentAt: 2 * Self.second)))
        #expect((change + 2 * Self.hour).magnitude <= Self.second)
        #expect(learn(&clock, ahead: -2 * Self.hour, sentAt: 3 * Self.second) == .none)
        // Four seconds aren't logged, but are corrected.
        #expect(learn(&clock, ahead: -2 * Self.hour + 4 * Self.second, sentAt: 4 * Self.second) == .none)
        #expect((correction(clock, at: 4 * Self.second) + 2 * Self.hour - 4 * Self.second).magnitude <= Self.second)
        #expect(learn(&clock, ahead: 0, sentAt: 5 * Self.second) == .agrees)
        #expect(!clock.isCorrected)
    }

    @Test(arguments: [1, -1] as [Int64])
    func `A difference of more than a day is not corrected, and reported once`(sign: Int64) throws {
        var clock = ServerClock()
        let ahead = sign * (Self.day + 3 * Self.second)
        let difference = try #require(tooFar(learn(&clock, ahead: ahead, sentAt: 0)))
        #expect((difference - ahead).magnitude <= Self.second)
        #expect(correction(clock, at: 0) == 0)
        #expect(!clock.isCorrected)
        #expect(learn(&clock, ahead: ahead, sentAt: Self.second) == .none)
        #expect(corrected(learn(&clock, ahead: sign * Self.hour, sentAt: 2 * Self.second)) != nil)
        #expect(tooFar(learn(&clock, ahead: ahead, sentAt: 3 * Self.second)) != nil)
    }

    @Test func `A local clock that is set changes the correction at once, and not the estimate`() {
        var clock = ServerClock()
        _ = learn(&clock, ahead: Self.hour, sentAt: 0)
        let before = correction(clock, at: Self.second)
        // The local clock is set to the server's time, or beyond it.
        #expect(correction(clock, at: Self.second, wallAhead: Self.hour) == 0)
        #expect((correction(clock, at: Self.second, wallAhead: 2 * Self.hour) + Self.hour).magnitude <= 2 * Self.second)
        #expect(correction(clock, at: Self.second, wallAhead: -23 * Self.hour - 10 * Self.second) == 0, "more than a day")
        #expect(correction(clock, at: Self.second) == before)
    }

    @Test func `Extreme times trap nowhere`() {
        let times: [Int64] = [.min, .min + 1, -1, 0, 1, Self.second, Self.start, .max - 1, .max]
        for date in times {
            for wall in times {
                var clock = ServerClock()
                _ = clock.learn(UnixTime(nanoseconds: date), sentAt: 5, receivedAt: 7, wall: wall)
                #expect(clock.correction(of: wall, at: 9).magnitude <= Self.day)
                _ = clock.learn(UnixTime(nanoseconds: Self.start), sentAt: 10, receivedAt: Self.day * 10_000, wall: wall)
                #expect(clock.correction(of: wall, at: Self.day * 10_000).magnitude <= Self.day)
            }
        }
        // A response can't arrive before its request was sent.
        var clock = ServerClock()
        #expect(clock.learn(UnixTime(nanoseconds: Self.start + Self.hour), sentAt: 8, receivedAt: 7, wall: Self.start) == .none)
        #expect(!clock.isCorrected)
    }

    /// A server whose clock drifts and is sometimes set, a local clock that is also set, and round trips of every length.
    @Test func `Against a simulated server, the estimate always holds the server's time`() {
        let rounds = Rounds("SERVER_CLOCK", default: 300)
        var random = rounds.random
        for _ in 0..<rounds.count {
            var clock = ServerClock()
            var uptime = Int64.random(in: 0...Self.day * 100, using: &random)
            var server = Self.start + Int64.random(in: -Self.day / 2...Self.day / 2, using: &random)
            var wall = Self.start
            let drift = Int64.random(in: -90...90, using: &random)
            func pass(_ time: Int64) {
                uptime += time
                wall += time
                server += time + time / 1_000_000 * drift
            }
            for _ in 0..<100 {
                pass(Int64.random(in: 0...Int64.random(in: 1...20 * Self.second, using: &random), using: &random))
                switch Int.random(in: 0..<30, using: &random) {
                case 0:
                    server +=
                        (Bool.random(using: &random) ? 1 : -1) * Int64.random(in: 10 * Self.second...Self.hour, using: &random)
                case 1: wall = Self.start + Int64.random(in: -Self.day / 4...Self.day / 4, using: &random)
                default: break
                }
                let sent = uptime
                pass(Int64.random(in: 0...3 * Self.second, using: &random))
                let date = UnixTime(seconds: UnixTime(nanoseconds: server).seconds)
                pass(Int64.random(in: 0...3 * Self.second, using: &random))
                _ = clock.learn(date, sentAt: sent, receivedAt: uptime, wall: wall)
                // A local clock that shows the server's time counts as correct.
                #expect(clock.correction(of: server, at: uptime) == 0)
                let difference = server - wall
                let correction = clock.correction(of: wall, at: uptime)
                guard difference.magnitude < UInt64(Self.day - 10 * Self.second) else { continue }
                #expect((difference - correction).magnitude <= UInt64(Self.second + uptime - sent) + 1_000_000)
                // Never corrects in the wrong direction or too much.
                #expect(correction == 0 || (correction > 0) == (difference > 0) && correction.magnitude <= difference.magnitude)
            }
        }
    }
}
