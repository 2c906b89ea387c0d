import NevodTestSupport
import Testing

@testable import NevodHost

/// Validation (RFC 9111 §4.3), and the response if the validation fails.
@Suite(.eachCache) struct CacheValidationTests {
    /// Responds to a conditional request with 304 and these lines.
    private func validating(
        _ lines: [String], notModified: [String] = [], status: Int = 304
    ) throws -> CacheFixture {
        try CacheFixture { number, head, _ in
            head.contains("\r\nIf-")
                ? CannedResponse(status: status, lines: notModified, body: status == 304 ? "" : "\(number)")
                : CannedResponse(lines: lines, body: "\(number)")
        }
    }

    private func conditions(_ head: String) -> [String] {
        head.split(separator: "\r\n").filter { $0.hasPrefix("If-") }.map(String.init)
    }

    @Test(arguments: [
        (["ETag: \"a\""], ["If-None-Match: \"a\""]), (["ETag: W/\"a\""], ["If-None-Match: W/\"a\""]),
        (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], ["If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"]),
        (
            ["ETag: \"a\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"],
            ["If-None-Match: \"a\"", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT"]
        ),
    ])
    func `A stale response is validated with its own validators`(_ validators: [String], _ expected: [String]) async throws {
        let fixture = try validating(["Cache-Control: max-age=60"] + validators, notModified: ["Cache-Control: max-age=60"])
        #expect(try await fixture.get() == "1")
        fixture.clock.advance(60)
        let second = try await fixture.send(.get)
        #expect(second.status == 200)
        #expect(try await second.body.collect() == Array("1".utf8))
        #expect(fixture.requests.map(conditions) == [[], expected])
        // Just validated, so there is no Age (§5.1).
        #expect(second.headers["Age"] == nil)
        // Fresh for the 304's lifetime, counted from the 304 (§4.3.4).
        fixture.clock.advance(59)
        #expect(try await fixture.get() == "1")
        #expect(fixture.requests.count == 2)
    }

    @Test func `§3.2 A 304 renews the stored lines, but not those about the bytes`() async throws {
        let fixture = try validating(
            ["Cache-Control: max-age=60", "Age: 1", "ETag: \"a\"", "X-Old: kept", "X-New: old", "X-New: old too"],
            notModified: [
                "Cache-Control: max-age=600", "ETag: \"a\"", "X-New: new", "Content-Length: 77", "Content-Encoding: gzip",
                "Connection: X-Hop", "X-Hop: 1",
            ])
        _ = try await fixture.get()
        fixture.clock.advance(60)
        for age in [nil, "599"] {
            let response = try await fixture.send(.get)
            #expect(response.headers.values(of: "X-New") == ["new"])
            #expect(response.headers.values(of: "Content-Length") == ["1"])
            #expect(response.headers["X-Old"] == "kept")
            #expect(response.headers["Content-Encoding"] == nil)
            #expect(response.headers["X-Hop"] == nil)
            #expect(response.headers["Age"] == age)
            fixture.clock.advance(599)
        }
        #expect(fixture.requests.count == 2)
    }

    @Test func `§3.1 Headers of the connection are not stored`() async throws {
        let fixture = try CacheFixture([
            "Cache-Control: max-age=60", "Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: 5",
        ])
        _ = try await fixture.get()
        let second = try await fixture.send(.get)
        #expect(["Connection", "X-Hop", "Keep-Alive"].compactMap { second.headers[$0] } == [])
        #expect(fixture.requests.count == 1)
    }

    @Test func `§4.3.3 A full response replaces the stored one`() async throws {
        let fixture = try validating(
            ["Cache-Control: max-age=60", "ETag: \"a\""], notModified: ["Cache-Control: max-age=60", "ETag: \"b\""], status: 200)
        _ = try await fixture.get()
        fixture.clock.advance(60)
        #expect(try await fixture.get() == "2")
        #expect(try await fixture.get() == "2")
        #expect(await fixture.store.count == 1)
    }

    @Test func `§4.3.4 After a 304 for another response the request is repeated without conditions`() async throws {
        let fixture = try validating(["Cache-Control: max-age=60", "ETag: \"a\""], notModified: ["ETag: \"b\""])
        _ = try await fixture.get()
        fixture.clock.advance(60)
        #expect(try await fixture.get() == "3")
        #expect(fixture.requests.map(conditions) == [[], ["If-None-Match: \"a\""], []])
        #expect(try await fixture.get() == "3")
    }

    @Test func `A caller's own conditional request gets the 304, and the stored response is unchanged`() async throws {
        let fixture = try validating(["Cache-Control: max-age=60", "ETag: \"a\""])
        _ = try await fixture.get()
        let own = try await fixture.send(.get, "/", ["If-None-Match: \"a\""])
        #expect(own.status == 304)
        #expect(conditions(fixture.requests.last ?? "") == ["If-None-Match: \"a\""])
        #expect(try await fixture.get() == "1")
    }

    @Test func `A 304 or a full response with no-store removes the stored one`() async throws {
        for status in [304, 200] {
            let fixture = try validating(
                ["Cache-Control: max-age=60", "ETag: \"a\""], notModified: ["Cache-Control: no-store"], status: status)
            _ = try await fixture.get()
            fixture.clock.advance(60)
            #expect(try await fixture.get() == (status == 304 ? "1" : "2"))
            #expect(await fixture.store.count == 0)
        }
    }

    @Test func `Cookies and nonces reach the caller they came for, and no other`() async throws {
        let own = ["Set-Cookie: a=2", "DPoP-Nonce: n", "Authentication-Info: nextnonce=n"]
        let fixture = try validating(
            ["Cache-Control: public, max-age=60", "ETag: \"a\"", "Set-Cookie: a=1"], notModified: own)
        let names = ["Set-Cookie", "DPoP-Nonce", "Authentication-Info"]
        #expect(try await fixture.send(.get).headers["Set-Cookie"] == "a=1")
        #expect(try await fixture.send(.get).headers["Set-Cookie"] == nil)
        fixture.clock.advance(60)
        let confirmed = try await fixture.send(.get)
        #expect(names.compactMap { confirmed.headers[$0] } == ["a=2", "n", "nextnonce=n"])
        let stored = try await fixture.send(.get)
        #expect(names.compactMap { stored.headers[$0] } == [])
        #expect(fixture.requests.count == 2)
    }

    // MARK: Errors

    private func failing(_ lines: String, _ status: Int?) throws -> CacheFixture {
        try CacheFixture { number, _, _ in
            guard number > 1 else { return CannedResponse(lines: ["Cache-Control: \(lines)"], body: "1") }
            return status.map { CannedResponse(status: $0, body: "error") }
        }
    }

    /// The result of the second request: the body, or "none" for a transport error.
    private func outcome(_ fixture: CacheFixture, later: Int64, _ lines: [String] = []) async throws -> String {
        _ = try await fixture.get()
        fixture.clock.advance(later)
        do { return try await fixture.get("/", lines) } catch is TransportError { return "none" }
    }

    @Test(arguments: [500, 502, 503, 504, nil] as [Int?])
    func `RFC 5861 stale-if-error serves a stale response in place of an error`(_ status: Int?) async throws {
        let sie = "max-age=60, stale-if-error=30"
        let error = status == nil ? "none" : "error"
        #expect(try await outcome(failing(sie, status), later: 90) == "1")
        #expect(try await outcome(failing(sie, status), later: 91) == error)
        #expect(try await outcome(failing("max-age=60", status), later: 60) == error)
        #expect(try await outcome(failing("\(sie), must-revalidate", status), later: 60) == error)
        #expect(try await outcome(failing(sie, status), later: 60, ["Cache-Control: no-cache"]) == error)
        #expect(try await outcome(failing(sie, status), later: 60, ["Cache-Control: max-age=600"]) == error)
        #expect(try await outcome(failing(sie, status), later: 60, ["Cache-Control: min-fresh=1"]) == error)
        #expect(try await outcome(failing("max-age=60", status), later: 70, ["Cache-Control: stale-if-error=10"]) == "1")
        #expect(try await outcome(failing(sie, status), later: 71, ["Cache-Control: stale-if-error=10"]) == error)
    }

    @Test func `Other error statuses are returned to the caller`() async throws {
        for status in [501, 404] {
            #expect(try await outcome(failing("max-age=60, stale-if-error=30", status), later: 60) == "error")
        }
    }

    @Test func `A refused certificate is not served stale`() async throws {
        let clock = TestClock()
        var headers = HTTPHeaders()
        headers.add("Cache-Control", "max-age=0, stale-if-error=60", by: .host)
        let response = HTTPResponse(version: .http11, status: 200, reason: "", headers: headers, body: .bytes([]))
        let stored = StoredResponse(response, body: [], requestedAt: clock.now, receivedAt: clock.now)
        let request = try HTTPRequest(.get, "https://h/")
        for (code, isServed) in [
            (TransportError.Code.tls, false), (.pinMismatch, false), (.cancelled, false), (.timedOut, true),
            (.hostNotFound, true),
        ] {
            var exchange = CacheExchange(request, CachePolicy(request), stored: stored, limit: 10)
            _ = exchange.start(at: clock.now)
            guard
                case .finish(let result, .none) = exchange.receive(
                    .failure(TransportError(code)), requestedAt: clock.now, at: clock.now)
            else {
                Issue.record("not finished")
                continue
            }
            #expect(((try? result.get()) != nil) == isServed, "\(code)")
        }
    }

    @Test func `A server error leaves the stored response, which is served again afterwards`() async throws {
        let fixture = try CacheFixture { number, head, _ in
            switch number {
            case 1: CannedResponse(lines: ["Cache-Control: max-age=60", "ETag: \"a\""], body: "1")
            case 2: CannedResponse(status: 503, body: "error")
            default: CannedResponse(status: head.contains("If-None-Match") ? 304 : 500)
            }
        }
        #expect(try await outcome(fixture, later: 60) == "error")
        #expect(try await fixture.get() == "1")
    }
}
