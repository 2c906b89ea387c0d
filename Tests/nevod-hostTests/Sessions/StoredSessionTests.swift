import NevodHost
import Testing

@testable import nevod_host

@Suite struct StoredSessionTests {
    private static let name = SessionName(profile: "", plugin: "CookieAuth", scheme: "cookie", origins: [], settings: "00")

    @Test(
        "Expiry times are in UTC and marked once expired",
        arguments: [(0, "1970-01-01T00:00:00Z"), (1_709_210_096, "2024-02-29T12:34:56Z")])
    func end(seconds: Int, text: String) {
        let time = UnixTime(seconds: Int64(seconds))
        let session = StoredSession(name: Self.name, state: .readable(expires: time, account: ""))
        #expect(session.expiry(now: UnixTime(seconds: Int64(seconds) - 1)) == text)
        #expect(session.expiry(now: time) == text + " (expired)")
    }

    @Test("A session is found by its number or by a unique account or profile")
    func choice() throws {
        let sessions = [("work", "ada"), ("play", "ada"), ("", "2")].map {
            StoredSession(
                name: SessionName(
                    profile: $0.0, plugin: "CookieAuth", scheme: "cookie", origins: [], settings: "00", account: $0.1),
                state: .readable(expires: nil, account: ""))
        }
        let numbered = sessions.enumerated().map { $0 }
        #expect(try SessionsCommand.session("2", of: numbered).session.name.profile == "play")
        #expect(try SessionsCommand.session("work", of: numbered).number == 1)
        let ambiguous = #expect(throws: UsageError.self) { try SessionsCommand.session("ada", of: numbered) }
        #expect(ambiguous?.description.contains("ada") == true, "\(String(describing: ambiguous))")
        let missing = #expect(throws: UsageError.self) { try SessionsCommand.session("4", of: numbered) }
        #expect(missing?.description.contains("4") == true, "\(String(describing: missing))")
    }
}
