import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests from which responses the host learns their origin's clock.
struct ServerClocksTests {
    private static let hour: Int64 = 3_600_000_000_000
    /// The local time, a whole second.
    private static let now: Int64 = 1_700_000_000_000_000_000

    private final class Log: NetworkLogger {
        let lines = Collected<String>()
        func isEnabled(_ level: LogLevel) -> Bool { true }
        func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) { lines.append("\(level): \(message)") }
    }

    private let clocks = ServerClocks(HostClock { Self.now }, uptime: { 1000 })
    private let log = Log()

    private func origin(_ url: String) throws -> Origin { try HTTPURL(url).origin }

    private static func date(_ ahead: Int64) -> String { HTTPDate.text(UnixTime(nanoseconds: now + ahead)) }

    private func learn(_ url: String, _ lines: [(String, String)], status: Int = 200) throws {
        var headers = HTTPHeaders()
        for (name, value) in lines { headers.add(name, value, by: .host) }
        let response = HTTPResponse(version: .http11, status: status, reason: "", headers: headers, body: .bytes([]))
        clocks.learn(from: response, to: try origin(url), sentAt: 1000, log)
    }

    @Test(arguments: [
        "https://api.example.com", "https://10.0.0.1:8443", "http://127.0.0.1:8080", "http://127.255.0.9", "http://localhost",
        "http://[::1]:1",
    ])
    func `A Date that only the server can have written corrects its origin's time`(url: String) throws {
        try learn(url, [("date", Self.date(Self.hour))])
        #expect(try clocks.nanoseconds(at: origin(url)) == Self.now + Self.hour)
        #expect(try clocks.correction(at: origin(url)) == Self.hour)
        #expect(
            log.lines.values == [
                "info: the clock of \(try origin(url)) is 1 h 0 min ahead of this machine's; signatures use its time"
            ])
        // The local time, and other origins', stay.
        #expect(clocks.nanoseconds(at: nil) == Self.now)
        for other in ["https://other.example.com", "http://127.0.0.1:9", "http://localhost:9", "https://api.example.com:9"] {
            #expect(try clocks.nanoseconds(at: origin(other)) == Self.now)
        }
    }

    @Test(arguments: [
        "http://api.example.com", "http://10.0.0.1", "http://127.0.0.1.example.com", "http://localhost.example.com",
        "http://127.0.0.256", "http://[::2]", "http://8.8.2056", "http://2130706434.example", "http://127.0.0.+1",
        "http://[::ffff:8.8.8.8]", "http://mylocalhost",
    ])
    func `A Date over plain HTTP from elsewhere corrects nothing`(url: String) throws {
        // Some of these are not URLs of this host at all.
        guard (try? origin(url)) != nil else { return }
        try learn(url, [("Date", Self.date(Self.hour))])
        #expect(try clocks.nanoseconds(at: origin(url)) == Self.now)
        #expect(log.lines.values.isEmpty)
    }

    @Test(arguments: ["http://127.1", "http://0177.0.0.1", "http://127.0.0.01", "http://2130706433"])
    func `Any spelling of a loopback address is loopback`(url: String) throws {
        try learn(url, [("Date", Self.date(Self.hour))])
        #expect(try clocks.correction(at: origin("http://127.0.0.1")) == Self.hour)
    }

    @Test(arguments: [
        [("Date", "x"), ("Age", "0")], [("Age", "1")], [("Age", "3600")], [("Age", "x")], [("Age", "-1")], [("Age", "")],
        [("Age", "0"), ("Age", "5")], [("Date", date(0))], [("Date", date(2 * hour))],
    ])
    func `A stored response, one of unknown age, and one with two dates give no estimate`(more: [(String, String)]) throws {
        try learn("https://h", more + [("Date", Self.date(Self.hour))])
        #expect(try clocks.nanoseconds(at: origin("https://h")) == Self.now)
    }

    @Test(arguments: [
        "", "x", "0", "Tue, 14 Nov 2023 22:13:20", "Tue, 14 Nov 9223372036854775807 22:13:20 GMT",
        "Tue, 14 Nov 0001 22:13:20 GMT", "Tue, 14 Nov 9999 22:13:20 GMT", "Sun Nov 6 08:49:37 -9223372036854775808",
        String(repeating: "9", count: 10_000), "Tue, 99 Nov 2023 99:99:99 GMT", "Tuesday, 14-Nov-\u{0661}\u{0662} 22:13:20 GMT",
    ])
    func `An invalid or absurd date gives no estimate`(text: String) throws {
        try learn("https://h", [("Date", text)])
        try learn("https://h", [("Date", text)])
        #expect(try clocks.nanoseconds(at: origin("https://h")) == Self.now)
    }

    @Test(arguments: ["Tuesday, 14-Nov-23 23:13:20 GMT", "Tue Nov 14 23:13:20 2023", "Tue, 14 Nov 2023 23:13:20 GMT"])
    func `Each of the three forms of a date counts`(text: String) throws {
        try learn("https://h", [("Date", text)])
        #expect(try clocks.correction(at: origin("https://h")) == Self.hour)
    }

    @Test func `A response of age zero may have been stored for less than a second`() throws {
        try learn("https://h", [("Age", "0"), ("Date", Self.date(-Self.hour))])
        // Generated up to a second before the request, and within the second of its Date.
        let correction = try clocks.correction(at: origin("https://h"))
        #expect((correction + Self.hour - 2_000_000_000).magnitude < 1_000_000)
    }

    @Test func `A proxy's own response gives no estimate`() throws {
        try learn("http://127.0.0.1", [("Date", Self.date(Self.hour))], status: 407)
        #expect(try clocks.nanoseconds(at: origin("http://127.0.0.1")) == Self.now)
    }

    @Test func `The log has one line when a correction begins, changes, ends, or is too large`() throws {
        for ahead in [0, Self.hour, Self.hour, Self.hour + 4_000_000_000, -90_000_000_000, -90_000_000_000, 7_000_000_000, 0, 0] {
            try learn("https://h", [("Date", Self.date(ahead))])
        }
        for _ in 0..<3 { try learn("https://h", [("Date", Self.date(30 * 24 * Self.hour))]) }
        try learn("https://h", [("Date", Self.date(-23 * Self.hour))])
        #expect(
            log.lines.values == [
                "info: the clock of https://h is 1 h 0 min ahead of this machine's; signatures use its time",
                "info: the clock of https://h is 1 min 29 s behind this machine's; signatures use its time",
                "info: the clock of https://h is 7 s ahead of this machine's; signatures use its time",
                "info: the clock of https://h agrees with this machine's again; signatures use this machine's time",
                "notice: the clock of https://h is 30 d 0 h ahead of this machine's, more than the day that is corrected; "
                    + "signatures use this machine's time: set the clock that is wrong",
                "info: the clock of https://h is 23 h 0 min behind this machine's; signatures use its time",
            ])
    }

    @Test func `The number of origins is bounded`() throws {
        for port in 1...3000 { try learn("https://h:\(port)", [("Date", Self.date(Self.hour))]) }
        let corrected = try (1...3000).filter { try clocks.correction(at: origin("https://h:\($0)")) != 0 }
        #expect(corrected.count == 1000)
        #expect(corrected.contains(3000))
        // The count of corrections follows. Without any, no origin is looked up, and the local time is used.
        for port in corrected { try learn("https://h:\(port)", [("Date", Self.date(0))]) }
        #expect(try (1...3000).allSatisfy { try clocks.correction(at: origin("https://h:\($0)")) == 0 })
    }

    @Test func `The time is never negative, and no local time traps`() throws {
        for now in [Int64.min, -1, 0, 1, .max] {
            let clocks = ServerClocks(HostClock { now }, uptime: { 0 })
            var headers = HTTPHeaders()
            headers.add("Date", HTTPDate.text(UnixTime(seconds: 3600)), by: .host)
            let response = HTTPResponse(version: .http11, status: 200, reason: "", headers: headers, body: .bytes([]))
            clocks.learn(from: response, to: try origin("https://h"), sentAt: 0, nil)
            let time = clocks.nanoseconds(at: try origin("https://h"))
            #expect(time == now || time >= 0)
        }
    }

    @Test func `Concurrent requests learn and read safely`() async throws {
        let clocks = ServerClocks(.system)
        let origins = try (0..<4).map { try origin("https://h:\($0 + 1)") }
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    for round in 0..<500 {
                        let origin = origins[(index + round) % 4]
                        var headers = HTTPHeaders()
                        headers.add("Date", HTTPDate.text(HostClock.system.now + .seconds(3600)), by: .host)
                        let response = HTTPResponse(
                            version: .http11, status: 200, reason: "", headers: headers, body: .bytes([]))
                        clocks.learn(from: response, to: origin, sentAt: clocks.uptimeNow(), nil)
                        #expect((clocks.correction(at: origin) - Self.hour).magnitude < 70_000_000_000)
                    }
                }
            }
        }
    }
}
