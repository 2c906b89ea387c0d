import NevodHost
import NevodJWT
import NevodTestSupport
import Testing

@testable import NevodSessions

struct KeySetScheduleTests {
    /// The call may have joined a fetch between its result and its end, or one that asked no server because another had finished.
    @Test func `A call that joined a fetch without a result decides anew`() throws {
        var schedule = KeySetSchedule(RemoteKeySet.Settings())
        let start = UnixTime(seconds: 1_800_000_000)
        let pauseEnd = start + .seconds(60)
        func next(after joined: KeySetSchedule.Fetch? = nil, at time: UnixTime) -> KeySetSchedule.Action {
            schedule.next(after: joined, at: time) { _ in true }
        }

        let first = try #require(next(at: start).fetch)
        let isFirstNeeded = schedule.begin(first, at: start)
        let error = RemoteKeyError(.unavailable, "https://login.example.com/keys", "status 500")
        schedule.finish(.failure(error), at: start) { _ in true }
        #expect(isFirstNeeded && next(after: first, at: start).fetch == nil)

        let second = try #require(next(at: pauseEnd).fetch)
        #expect(next(after: second, at: pauseEnd).fetch != nil, "nothing has been fetched since")
        let isFirstNeededAgain = schedule.begin(first, at: pauseEnd)
        #expect(!isFirstNeededAgain && next(after: second, at: pauseEnd).fetch != nil)

        let isSecondNeeded = schedule.begin(second, at: pauseEnd)
        let keys = try JSONWebKeySet(json: Array(SignedTokens.keySet.utf8))
        schedule.finish(.success(keys), at: pauseEnd) { _ in true }
        #expect(isSecondNeeded && next(after: second, at: pauseEnd).usesKeys)
    }
}

extension KeySetSchedule.Action {
    fileprivate var fetch: KeySetSchedule.Fetch? {
        if case .fetch(let fetch) = self { fetch } else { nil }
    }

    fileprivate var usesKeys: Bool {
        if case .use = self { true } else { false }
    }
}
