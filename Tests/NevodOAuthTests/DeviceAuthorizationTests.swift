import NevodOAuth
import NevodSupport
import Testing

struct DeviceAuthorizationTests {
    private func codes(_ more: [JSONValue.Member] = []) throws -> DeviceAuthorization {
        let members = [
            JSONValue.Member("device_code", "D"), JSONValue.Member("user_code", "WDJB-MJHT"),
            JSONValue.Member("verification_uri", "https://as.test/activate"),
        ]
        let all = members.filter { member in !more.contains { $0.name == member.name } } + more
        return try DeviceAuthorization(.object(all), isSafe: { $0.lowercased().hasPrefix("https://") })
    }

    @Test func `Durations have defaults and bounds`() throws {
        let standard = try codes()
        #expect(standard.interval == 5 && standard.lifetime == 900 && standard.completeURI == nil)
        for value in [JSONValue.integer(-1), .integer(0), "x", .null] {
            let codes = try codes([JSONValue.Member("interval", value), JSONValue.Member("expires_in", value)])
            #expect(codes.interval == 5 && codes.lifetime == 900)
        }
        for value in [JSONValue.integer(.max), .number(1e300)] {
            let codes = try codes([JSONValue.Member("interval", value), JSONValue.Member("expires_in", value)])
            #expect(codes.interval == 300 && codes.lifetime == 86_400)
        }
        #expect(try codes([JSONValue.Member("interval", "7")]).interval == 7)
    }

    @Test(
        arguments: [
            ("device_code", ""), ("device_code", "a\nb"), ("device_code", .null),
            ("user_code", .string(String(repeating: "A", count: 65))), ("user_code", "AB\u{202E}CD"), ("user_code", .integer(12)),
            ("verification_uri", "javascript:alert(1)"), ("verification_uri", "https://a/\n"), ("verification_uri", ""),
            ("verification_uri", .string("https://a/" + String(repeating: "a", count: 512))),
        ] as [(String, JSONValue)])
    func `Codes that aren't safe to show are refused`(name: String, value: JSONValue) throws {
        let fault = try #require(throws: DeviceAuthorization.Fault.self) { try codes([JSONValue.Member(name, value)]) }
        #expect(fault.member.hasPrefix(name))
    }

    @Test func `A draft's name is read, and an invalid complete address is left out`() throws {
        let draft = JSONValue.object([
            JSONValue.Member("device_code", "D"), JSONValue.Member("user_code", "A"),
            JSONValue.Member("verification_url", "HTTPS://as.test/a"),
        ])
        #expect(try DeviceAuthorization(draft, isSafe: { _ in true }).verificationURI == "HTTPS://as.test/a")
        #expect(try codes([JSONValue.Member("verification_uri_complete", "https://as.test/?c")]).completeURI != nil)
        #expect(try codes([JSONValue.Member("verification_uri_complete", "javascript:alert(1)")]).completeURI == nil)
    }

    @Test func `A device asks less often if the server says so, or fails`() {
        var polling = DevicePolling(interval: 5)
        var intervals: [Int64] = []
        func take(_ code: String?, asked: Int64? = nil) {
            let continues = polling.shouldContinue(after: code, status: 503, mayPass: true, asked: asked)
            #expect(continues)
            intervals.append(polling.interval)
        }
        for code in ["authorization_pending", "slow_down", "slow_down", nil, "temporarily_unavailable", nil] { take(code) }
        #expect(polling.failures == 3)
        take(nil, asked: 90)
        take("slow_down")
        #expect(polling.failures == 0)
        take("slow_down", asked: 86_400)
        #expect(intervals == [5, 10, 15, 30, 60, 60, 90, 95, 300])
    }

    @Test func `A failure never makes a device ask more often`() {
        var polling = DevicePolling(interval: 205)
        let continues = polling.shouldContinue(after: nil, status: nil, mayPass: true, asked: nil)
        #expect(continues && polling.interval == 205)
    }

    @Test(arguments: [301, 302, 307, 401, 404, 405, 410, 200, 400, 403, 503])
    func `An endpoint that redirects or doesn't exist is asked once`(status: Int) {
        var polling = DevicePolling(interval: 5)
        let continues = polling.shouldContinue(after: nil, status: status, mayPass: true, asked: nil)
        #expect(continues == [200, 400, 403, 503].contains(status))
    }

    @Test(arguments: ["access_denied", "expired_token", "invalid_grant"])
    func `A refusal ends the login`(code: String) {
        var polling = DevicePolling(interval: 5)
        let continues = polling.shouldContinue(after: code, status: 400, mayPass: false, asked: nil)
        #expect(!continues)
    }
}
