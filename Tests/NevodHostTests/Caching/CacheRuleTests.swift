import NevodTestSupport
import Testing

@testable import NevodHost

/// A rule: the response's lines, the delay until the second request, that request's lines, and whether the stored response is
/// used.
struct CacheRule: Sendable, CustomTestStringConvertible {
    enum Outcome: Sendable { case served, asked, refused }

    let name: String
    var status = 200
    /// `+60` in an Expires, Date or Last-Modified line is replaced with the date 60 seconds later.
    var lines: [String]
    var later: Int64 = 0
    var request: [String] = []
    let outcome: Outcome

    init(
        _ name: String, status: Int = 200, _ lines: [String], later: Int64 = 0, asking request: [String] = [], _ outcome: Outcome
    ) {
        self.name = name
        self.status = status
        self.lines = lines
        self.later = later
        self.request = request
        self.outcome = outcome
    }

    var testDescription: String { "\(name), \(later) s, \(request): \(outcome)" }
}

/// Runs each rule through libcurl and a real server, with a clock that the test sets. The sections are from RFC 9111.
@Suite(.eachCache) struct CacheRuleTests {
    private static let fresh = ["Cache-Control: max-age=60"]

    private static let freshness: [CacheRule] = [
        CacheRule("§4.2.1 max-age", fresh, later: 59, .served),
        CacheRule("§4.2 fresh is younger than its lifetime", fresh, later: 60, .asked),
        CacheRule("§4.2.1 Expires", ["Expires: +60"], later: 59, .served),
        CacheRule("§4.2.1 Expires", ["Expires: +60"], later: 60, .asked),
        CacheRule("§4.2.1 Expires counts from Date", ["Date: -50", "Expires: +60"], later: 59, .served),
        CacheRule("§5.3 an Expires that is no date", ["Expires: 0", "Last-Modified: -1000"], .asked),
        CacheRule("§4.2.1 Expires that differ", ["Expires: +60", "Expires: +70"], .asked),
        CacheRule("§4.2.1 max-age before Expires", ["Expires: +60", "Cache-Control: max-age=600"], later: 599, .served),
        CacheRule("§4.2.1 max-age before Expires", ["Expires: +600", "Cache-Control: max-age=60"], later: 60, .asked),
        CacheRule("§5.2.2.10 s-maxage is not for a private cache", ["Cache-Control: s-maxage=600"], later: 1, .asked),
        CacheRule("§4.2.2 a tenth of the time unchanged", ["Last-Modified: -1000"], later: 99, .served),
        CacheRule("§4.2.2 a tenth of the time unchanged", ["Last-Modified: -1000"], later: 100, .asked),
        CacheRule("§4.2.2 a day at most", ["Last-Modified: -99999999"], later: 86_399, .served),
        CacheRule("§4.2.2 a day at most", ["Last-Modified: -99999999"], later: 86_400, .asked),
        CacheRule("§4.2.2 no guess for other statuses", status: 302, ["Last-Modified: -1000", "Cache-Control: private"], .asked),
        CacheRule("§4.2.2 a guess where public", status: 302, ["Last-Modified: -1000", "Cache-Control: public"], .served),
        CacheRule("§4.2.3 Age", fresh + ["Age: 50"], later: 9, .served),
        CacheRule("§4.2.3 Age", fresh + ["Age: 50"], later: 10, .asked),
        CacheRule("§5.1 the first Age", fresh + ["Age: 0", "Age: 50"], later: 59, .served),
        CacheRule("§5.1 an Age that is no number", fresh + ["Age: soon"], later: 59, .served),
        CacheRule("§4.2.3 age by the origin's clock", fresh + ["Date: -50"], later: 9, .served),
        CacheRule("§4.2.3 age by the origin's clock", fresh + ["Date: -50"], later: 10, .asked),
        CacheRule("§4.2.3 a clock set back", fresh, later: -1, .asked),
        CacheRule("§4.2.1 directives that differ", ["Cache-Control: max-age=60, max-age=70"], .asked),
        CacheRule("§4.2.1 a broken max-age", ["Cache-Control: max-age=6x", "Expires: +60"], .asked),
        CacheRule("§5.2 a quoted argument, any case", ["Cache-Control: MAX-AGE=\"60\""], later: 59, .served),
        CacheRule("§5.2 unknown directives", ["Cache-Control: x=\"a, no-store\", max-age=60"], later: 59, .served),
        CacheRule("§5.2 a quote without an end hides nothing", ["Cache-Control: max-age=60, x=\"a, no-store"], .asked),
        CacheRule("§1.2.2 more than 2^31", ["Cache-Control: max-age=99999999999999999999"], later: 1 << 30, .served),
    ]

    private static let requests: [CacheRule] = [
        CacheRule("§5.2.1.4 no-cache", fresh, asking: ["Cache-Control: no-cache"], .asked),
        CacheRule("§5.4 Pragma", fresh, asking: ["Pragma: no-cache"], .asked),
        CacheRule("§5.4 Pragma beside Cache-Control", fresh, asking: ["Pragma: no-cache", "Cache-Control: max-age=60"], .served),
        CacheRule("§5.2.1.1 max-age", fresh, later: 10, asking: ["Cache-Control: max-age=10"], .served),
        CacheRule("§5.2.1.1 max-age", fresh, later: 11, asking: ["Cache-Control: max-age=10"], .asked),
        CacheRule("§5.2.1.1 max-age doesn't freshen", fresh, later: 61, asking: ["Cache-Control: max-age=600"], .asked),
        CacheRule("§5.2.1.3 min-fresh", fresh, later: 50, asking: ["Cache-Control: min-fresh=10"], .served),
        CacheRule("§5.2.1.3 min-fresh", fresh, later: 51, asking: ["Cache-Control: min-fresh=10"], .asked),
        CacheRule("§5.2.1.3 a broken min-fresh", fresh, asking: ["Cache-Control: min-fresh"], .asked),
        CacheRule("§5.2.1.2 max-stale", fresh, later: 9999, asking: ["Cache-Control: max-stale"], .served),
        CacheRule("§5.2.1.2 max-stale", fresh, later: 65, asking: ["Cache-Control: max-stale=5"], .served),
        CacheRule("§5.2.1.2 max-stale", fresh, later: 66, asking: ["Cache-Control: max-stale=5"], .asked),
        CacheRule(
            "§5.2.2.2 must-revalidate", ["Cache-Control: max-age=60, must-revalidate"], later: 60,
            asking: ["Cache-Control: max-stale"], .asked),
        CacheRule("§5.2.2.2 must-revalidate, fresh", ["Cache-Control: max-age=60, must-revalidate"], later: 59, .served),
        CacheRule("§5.2.1.7 only-if-cached", fresh, later: 59, asking: ["Cache-Control: only-if-cached"], .served),
        CacheRule("§5.2.1.7 only-if-cached", fresh, later: 60, asking: ["Cache-Control: only-if-cached"], .refused),
        CacheRule(
            "§5.2.1.7 only-if-cached, a part", fresh, asking: ["Range: bytes=0-0", "Cache-Control: only-if-cached"], .refused),
        CacheRule(
            "RFC 8246 §3 immutable, but not over https", ["Cache-Control: max-age=60, immutable"], later: 1,
            asking: ["Cache-Control: max-age=0"], .asked),
        CacheRule("a caller's own condition", fresh, asking: ["If-None-Match: \"x\""], .asked),
        CacheRule("a caller's own condition", fresh, asking: ["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], .asked),
        CacheRule("a caller's own condition", fresh, asking: ["If-Match: *"], .asked),
        CacheRule("a caller's own condition", fresh, asking: ["If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT"], .asked),
        CacheRule("§3.3 a part", fresh, asking: ["Range: bytes=0-0"], .asked),
    ]

    private static let storing: [CacheRule] = [
        CacheRule("§5.2.2.5 no-store", ["Cache-Control: no-store, max-age=60"], .asked),
        CacheRule("§5.2.2.3 must-understand", ["Cache-Control: no-store, must-understand, max-age=60"], .served),
        CacheRule("§5.2.2.3 must-understand", status: 299, ["Cache-Control: must-understand, max-age=60"], .asked),
        CacheRule("§3 an unknown status", status: 299, fresh, .served),
        CacheRule("§5.2.2.7 private", ["Cache-Control: private, max-age=60"], .served),
        CacheRule("§5.2.2.4 no-cache", ["Cache-Control: no-cache, max-age=60"], .asked),
        CacheRule("§5.2.2.4 no-cache with names", ["Cache-Control: no-cache=\"X-Y\", max-age=60", "ETag: \"1\""], .asked),
        CacheRule("§4.1 Vary: *", fresh + ["Vary: Accept, *"], .asked),
        CacheRule("§3 no leave", status: 302, ["Last-Modified: -1000"], .asked),
        CacheRule("§3 leave by max-age", status: 302, fresh, .served),
        CacheRule("§3 leave by Expires", status: 302, ["Expires: +60"], .served),
        CacheRule("RFC 9110 §15.1 a 404", status: 404, ["Last-Modified: -1000"], .served),
        CacheRule("a challenge", status: 401, fresh, .asked),
        CacheRule("§3.3 a part that nobody asked for", status: 206, fresh, .asked),
        CacheRule("§7.3 Set-Cookie", fresh + ["Set-Cookie: a=b"], .asked),
        CacheRule("§7.3 Set-Cookie2", fresh + ["Set-Cookie2: a=b"], .asked),
        CacheRule("§7.3 Set-Cookie where public", ["Cache-Control: public, max-age=60", "Set-Cookie: a=b"], .served),
        CacheRule(
            "neither fresh nor to be validated", ["Cache-Control: max-age=0"], asking: ["Cache-Control: max-stale"], .asked),
    ]

    @Test(arguments: freshness + requests + storing)
    func rule(_ rule: CacheRule) async throws {
        let fixture = try CacheFixture { number, _, clock in
            let lines = rule.lines.map { line in
                let parts = line.split(separator: " ", maxSplits: 1)
                guard ["Expires:", "Date:", "Last-Modified:"].contains(parts[0]), let offset = Int64(parts[1]), offset != 0
                else { return line }
                return "\(parts[0]) \(clock.date(offset))"
            }
            return CannedResponse(status: rule.status, lines: lines, body: "response \(number)")
        }
        #expect(try await fixture.get() == "response 1")
        fixture.clock.advance(rule.later)
        let second = try await fixture.get("/", rule.request)
        switch rule.outcome {
        case .served: #expect((second, fixture.requests.count) == ("response 1", 1))
        case .asked: #expect((second, fixture.requests.count) == ("response 2", 2))
        case .refused: #expect((second, fixture.requests.count) == ("504", 1))
        }
    }

    @Test func `§5.2.1.5 The response to a request with no-store is not stored`() async throws {
        let fixture = try CacheFixture(Self.fresh)
        #expect(try await fixture.get("/", ["Cache-Control: no-store"]) == "1")
        #expect(try await fixture.get() == "2")
        #expect(try await fixture.get() == "2")
    }

    @Test func `§5.2.1.7 only-if-cached without a stored response is a 504`() async throws {
        let fixture = try CacheFixture(Self.fresh)
        #expect(try await fixture.get("/", ["Cache-Control: only-if-cached"]) == "504")
        #expect(fixture.requests.isEmpty)
    }

    @Test func `§4.2.3 The response delay counts towards its age`() async throws {
        let fixture = try CacheFixture { number, _, clock in
            let date = clock.date(20)
            clock.advance(20)
            return CannedResponse(lines: ["Cache-Control: max-age=60", "Age: 30", "Date: \(date)"], body: "\(number)")
        }
        #expect(try await fixture.get() == "1")
        fixture.clock.advance(9)
        #expect(try await fixture.get() == "1")
        fixture.clock.advance(1)
        #expect(try await fixture.get() == "2")
    }

    @Test func `§5.1 A stored response has its current Age, in place of the one received`() async throws {
        let fixture = try CacheFixture(["Cache-Control: max-age=60", "Age: 7", "X-Other: kept"])
        let first = try await fixture.send(.get)
        #expect(first.headers.values(of: "Age") == ["7"])
        fixture.clock.advance(5)
        let second = try await fixture.send(.get)
        #expect(second.headers.values(of: "Age") == ["12"])
        #expect(second.headers["X-Other"] == "kept")
        #expect((second.status, second.reason, second.version) == (200, "Canned", .http11))
    }

    @Test func `RFC 8246 An immutable response is not revalidated on a reload`() throws {
        func serves(_ url: String, _ control: String, _ request: String, later: Int64) throws -> Bool {
            let clock = TestClock()
            var headers = HTTPHeaders()
            headers.add("Cache-Control", control, by: .host)
            let response = HTTPResponse(version: .http2, status: 200, reason: "", headers: headers, body: .bytes([]))
            let stored = StoredResponse(response, body: [], requestedAt: clock.now, receivedAt: clock.now)
            clock.advance(later)
            var again = try HTTPRequest(.get, url)
            try again.setHeader("Cache-Control", request)
            return CachePolicy(again).mayServe(stored, at: clock.now)
        }
        let immutable = "max-age=60, immutable"
        #expect(try serves("https://h/", immutable, "max-age=0", later: 1))
        #expect(try !serves("https://h/", "max-age=60", "max-age=0", later: 1))
        #expect(try !serves("http://h/", immutable, "max-age=0", later: 1))
        #expect(try !serves("https://h/", immutable, "max-age=0", later: 60))
        #expect(try !serves("https://h/", immutable, "no-cache", later: 1))
        // A limit other than a reload's is the caller's own.
        #expect(try !serves("https://h/", immutable, "max-age=30", later: 31))
    }
}
