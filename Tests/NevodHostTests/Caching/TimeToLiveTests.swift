import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests a lifetime that the client sets.
@Suite(.eachCache) struct TimeToLiveTests {
    struct Rule: Sendable, CustomTestStringConvertible {
        let lines: [String]
        var status = 200
        let timeToLive: TimeToLive?
        let later: Int64
        let isServed: Bool

        init(_ lines: [String], status: Int = 200, _ timeToLive: TimeToLive?, later: Int64, _ isServed: Bool) {
            (self.lines, self.status, self.timeToLive, self.later, self.isServed) = (lines, status, timeToLive, later, isServed)
        }

        var testDescription: String { "\(lines), \(status), \(timeToLive.map { "\($0)" } ?? "none"), \(later) s: \(isServed)" }
    }

    private static let always = TimeToLive.always(.seconds(300))
    private static let rules: [Rule] = [
        Rule([], nil, later: 0, false),
        Rule([], .seconds(300), later: 299, true),
        Rule([], .seconds(300), later: 300, false),
        Rule([], .seconds(0), later: 0, false),
        Rule([], .seconds(-1), later: 0, false),
        Rule([], .seconds(.max), later: 86_400, true),
        // Replaces the tenth that the server's date suggests.
        Rule(["Last-Modified: -100000"], .seconds(300), later: 300, false),
        Rule(["Last-Modified: -10"], .seconds(300), later: 299, true),
        // The server decides.
        Rule(["Cache-Control: max-age=60"], .seconds(300), later: 60, false),
        Rule(["Cache-Control: max-age=600"], .seconds(300), later: 599, true),
        Rule(["Expires: 0"], .seconds(300), later: 0, false),
        Rule(["Cache-Control: no-store"], .seconds(300), later: 0, false),
        Rule(["Cache-Control: no-cache"], .seconds(300), later: 0, false),
        Rule(["Cache-Control: private"], .seconds(300), later: 299, true),
        Rule(["Cache-Control: must-revalidate"], .seconds(300), later: 299, true),
        Rule(["Vary: *"], .seconds(300), later: 0, false),
        Rule(["Set-Cookie: a=1"], .seconds(300), later: 0, false),
        Rule(["Age: 200"], .seconds(300), later: 100, false),
        // Only for successes.
        Rule([], status: 203, .seconds(300), later: 299, true),
        Rule([], status: 404, .seconds(300), later: 0, false),
        Rule([], status: 301, .seconds(300), later: 0, false),
        Rule([], status: 500, .seconds(300), later: 0, false),
        Rule([], status: 201, .seconds(300), later: 0, false),
        Rule([], status: 404, always, later: 0, false),
        // Replaces the server's lifetime.
        Rule(["Cache-Control: max-age=0"], always, later: 299, true),
        Rule(["Cache-Control: max-age=0, private"], always, later: 299, true),
        Rule(["Cache-Control: max-age=600"], always, later: 300, false),
        Rule(["Expires: 0"], always, later: 299, true),
        Rule(["Cache-Control: max-age=0, must-revalidate"], always, later: 0, false),
        Rule(["Cache-Control: max-age=0, no-cache"], always, later: 0, false),
        Rule(["Cache-Control: max-age=0, no-store"], always, later: 0, false),
        Rule(["Cache-Control: max-age=0", "Vary: *"], always, later: 0, false),
    ]

    @Test(arguments: rules) func `A rule`(_ rule: Rule) async throws {
        let fixture = try CacheFixture(timeToLive: rule.timeToLive) { number, _, clock in
            let lines = rule.lines.map { line in
                line.hasPrefix("Last-Modified: ")
                    ? "Last-Modified: \(clock.date(Int64(line.split(separator: " ")[1]) ?? 0))" : line
            }
            return CannedResponse(status: rule.status, lines: lines, body: "\(number)")
        }
        #expect(try await fixture.get() == "1")
        fixture.clock.advance(rule.later)
        #expect(try await fixture.get() == (rule.isServed ? "1" : "2"))
    }

    @Test func `A private response stays with its user`() async throws {
        let fixture = try CacheFixture(["Cache-Control: private"], timeToLive: .seconds(300))
        for _ in 0..<2 {
            #expect(try await fixture.get("/", ["X-User: alice"]) == "1")
            #expect(try await fixture.get("/", ["X-User: bob"]) == "2")
        }
    }

    @Test func `Requests for more freshness, and changes, count as always`() async throws {
        let fixture = try CacheFixture([], timeToLive: .seconds(300))
        #expect(try await fixture.get() == "1")
        fixture.clock.advance(10)
        #expect(try await fixture.get("/", ["Cache-Control: max-age=10"]) == "1")
        #expect(try await fixture.get("/", ["Cache-Control: max-age=9"]) == "2")
        _ = try await fixture.send(.put)
        #expect(try await fixture.get() == "4")
    }

    @Test func `It applies to each use, and not to those of another session with the same store`() async throws {
        let fixture = try CacheFixture([], timeToLive: .seconds(300))
        #expect(try await fixture.get() == "1")
        let request = try fixture.request(.get, "/", [])
        for (timeToLive, expected) in [(TimeToLive.seconds(300), "1"), (nil, "2"), (.seconds(300), "1")]
            as [(TimeToLive?, String)]
        {
            fixture.clock.advance(1)
            let session = fixture.store.session(CurlSession(), timeToLive, fixture.clock.clock)
            let response = try await session.send(request, TransferOptions())
            #expect(String(decoding: try await response.body.collect(), as: UTF8.self) >= expected)
            if timeToLive == nil { #expect(fixture.requests.count == 2) }
        }
    }

    /// CacheControl's rule for this sets an expiry on each response. The server's max-age takes precedence over it.
    @Test func `Freshness as CacheControl's ExpiresAfter decides it`() throws {
        let script = """
            import datetime, itertools
            from email.utils import formatdate
            from unittest import mock
            import cachecontrol.heuristics
            from cachecontrol.cache import DictCache
            from cachecontrol.controller import CacheController
            from urllib3 import HTTPResponse

            class Request:
                url = "http://h/"
                def __init__(self, control): self.headers = {"Cache-Control": control} if control else {}

            now, elapsed, bits = 1800000000, 0, []
            mock.patch("time.time", lambda: now + elapsed).start()
            expiry = lambda delta, date=None: datetime.datetime.fromtimestamp(now, datetime.timezone.utc) + delta
            mock.patch("cachecontrol.heuristics.expire_after", expiry).start()
            for seconds, modified, age, request in itertools.product(
                    [1, 60, 300], [None, -10, -100000], [0, 1, 52, 59, 60, 292, 299, 300, 9999], ["", "no-cache", "min-fresh=7"]):
                elapsed = 0
                headers = {"Date": formatdate(now, usegmt=True)}
                if modified: headers["Last-Modified"] = formatdate(now + modified, usegmt=True)
                controller = CacheController(DictCache())
                response = HTTPResponse(status=200, headers=headers, preload_content=False, body=b"")
                response = cachecontrol.heuristics.ExpiresAfter(seconds=seconds).apply(response)
                controller.cache_response(Request(""), response, b"x")
                elapsed = age
                bits.append("1" if controller.cached_request(Request(request)) else "0")
            print("".join(bits))
            """
        let verdicts = try #require(try Command.output(["/usr/bin/python3", "-c", script]).split(separator: "\n").first)
        var ours = ""
        for seconds in [1, 60, 300] {
            for modified in [nil, -10, -100_000] as [Int64?] {
                for age in [0, 1, 52, 59, 60, 292, 299, 300, 9999] as [Int64] {
                    for control in ["", "no-cache", "min-fresh=7"] {
                        ours += try Self.serves(seconds, modified, age, control) ? "1" : "0"
                    }
                }
            }
        }
        #expect(ours == verdicts)
        #expect(ours.contains("1") && ours.contains("0"))
    }

    private static func serves(_ seconds: Int, _ modified: Int64?, _ age: Int64, _ control: String) throws -> Bool {
        let now: Int64 = 1_800_000_000
        var headers = HTTPHeaders()
        headers.add("Date", HTTPDate.text(UnixTime(seconds: now)), by: .host)
        if let modified { headers.add("Last-Modified", HTTPDate.text(UnixTime(seconds: now + modified)), by: .host) }
        let response = HTTPResponse(version: .http11, status: 200, reason: "OK", headers: headers, body: .bytes([]))
        let stored = StoredResponse(
            response, body: [], requestedAt: UnixTime(seconds: now), receivedAt: UnixTime(seconds: now))
        var request = try HTTPRequest(.get, "http://h/")
        let mayStore = CachePolicy(request, timeToLive: .seconds(seconds)).mayStore(stored, hasCookies: false)
        if !control.isEmpty { try request.setHeader("Cache-Control", control) }
        return mayStore
            && CachePolicy(request, timeToLive: .seconds(seconds)).mayServe(stored, at: UnixTime(seconds: now + age))
    }
}
