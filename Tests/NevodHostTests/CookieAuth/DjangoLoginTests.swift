import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a session with Django, with CSRF protection enabled.
struct DjangoLoginTests {
    private let server: ProbeServer
    private let folder: TemporaryFolder
    private let storage = InMemoryStorage()

    init() async throws {
        folder = try TemporaryFolder()
        server = try await ProbeServer.start("django", [folder.path])
    }

    private enum Way: String, CaseIterable {
        case hiddenInput, cookieToHeader, cookieToField, headerToHeader, json
    }

    private func settings(_ way: Way, password: String = "s3cret & more") -> [(String, String)] {
        let url = server.url
        let user = [
            ("username", "ada"), ("password", password), ("logout", "\(url)/logout/"), ("session-cookie", "sessionid"),
        ]
        return user
            + {
                switch way {
                case .hiddenInput: [("login", "\(url)/login/"), ("csrf", "input")]
                case .cookieToHeader: [("login", "\(url)/login/"), ("csrf", "cookie")]
                case .cookieToField: [("login", "\(url)/login/"), ("csrf", "cookie"), ("csrf-field", "csrfmiddlewaretoken")]
                case .headerToHeader:
                    [
                        ("login", "\(url)/login/"), ("csrf", "header"), ("page", "\(url)/api/token"),
                        ("csrf-header", "X-CSRFToken"),
                    ]
                case .json:
                    [("login", "\(url)/api/login"), ("csrf", "cookie"), ("page", "\(url)/api/token"), ("format", "json")]
                }
            }()
    }

    private func session(_ way: Way = .hiddenInput, password: String = "s3cret & more") throws -> SchemeSession {
        try CookieLogins.session(settings(way, password: password), storage: storage)
    }

    private func log() async throws -> [String] {
        try await control("log").split(separator: "\n").map(String.init)
    }

    @discardableResult
    private func control(_ what: String) async throws -> String {
        try await NetworkProvider(session: CurlSession()).text("\(server.url)/control/\(what)").text
    }

    @Test(arguments: Way.allCases)
    private func `Django accepts the login, the requests and the logout`(way: Way) async throws {
        let session = try session(way)
        try await session.login()
        let token = try #require(try await session.tokenStorage.load())
        #expect(token.account == "ada")
        #expect(try #require(token.expiresAt) > HostClock.system.now + .seconds(1_000_000))
        let response = try await session.provider().text("\(server.url)/page")
        #expect(response == (200, "ada"))
        try await session.logout()
        #expect(try await session.tokenStorage.load() == nil)
        #expect(try await log() == ["login ada", "logout ada"])
    }

    @Test(arguments: Way.allCases)
    private func `A wrong password is denied`(way: Way) async throws {
        let failure = try await CookieLogins.failure(of: session(way, password: "guess"))
        #expect(failure.status == .denied)
        let words =
            way == .json
            ? "the server refused (status 401)"
            : "the server showed the login page again, saying \"Please enter a correct username and password. "
                + "Note that both fields may be case-sensitive.\""
        #expect(failure.message == "\(words): is the user name or the password wrong?")
        #expect(try await log() == ["refused"])
    }

    @Test func `Without the CSRF token, the error names the setting`() async throws {
        let settings = settings(.json).filter { $0.0 != "csrf" && $0.0 != "page" }
        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
        #expect(failure.message.contains("the server wants a CSRF token (status 403); see the setting csrf"))
    }

    @Test func `The error for a page without the CSRF token says so`() async throws {
        var settings = settings(.hiddenInput)
        settings.append(("csrf-name", "other"))
        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
        #expect(failure == (.unavailable, "the page \(server.url)/login/ has no CSRF token: no input named other (status 200)"))
        #expect(try await log() == [])
    }

    /// The session ends with a 401, and with a redirect to the login page.
    @Test(arguments: ["/api", "/page"])
    func `100 requests across the end of a session all succeed with one login`(path: String) async throws {
        let session = try session()
        try await session.login()
        let provider = session.provider()
        #expect(try await provider.text("\(server.url)\(path)").status == 200)
        try await control("expire")
        let responses = try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await provider.text("\(server.url)\(path)") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(responses.map(\.status) == Array(repeating: 200, count: 100))
        #expect(responses.allSatisfy { $0.text.contains("ada") && !$0.text.contains("password") })
        #expect(try await log() == ["login ada", "login ada"])
    }

    @Test func `A session whose key changes stays valid, also in the next process`() async throws {
        let session = try session()
        try await session.login()
        let provider = session.provider()
        let first = try await provider.text("\(server.url)/api/rotate").text
        let second = try await provider.text("\(server.url)/api/rotate").text
        #expect(first != second)
        #expect(try await provider.text("\(server.url)/api").text == second)
        #expect(try await self.session().provider().text("\(server.url)/api").text == second)
        #expect(try await session.tokenStorage.load()?.account == "ada")
        #expect(try await log() == ["login ada"])
    }
}
