import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a hundred concurrent requests whose session has ended.
struct ConcurrentExpiryTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var settings: [(String, String)] = []
        var refusal: ScriptedServer.Response
        var testDescription: String { name }
    }

    static let cases = [
        Case(name: "401", refusal: .init(status: 401)),
        Case(name: "403", settings: [("expired", "403")], refusal: .init(status: 403)),
        Case(name: "redirect", refusal: .redirect("/login?next=/x")),
        Case(
            name: "page", refusal: .page("<form method=post><input name=username><input type=password name=password></form>")),
        Case(name: "JSON", settings: [("expired", "json:code=expired")], refusal: .json(200, #"{"code":"expired"}"#)),
    ]

    private func results(
        _ session: SchemeSession, _ url: String, _ beginnings: Beginnings = Beginnings(100)
    ) async -> [Result<Int, any Error>] {
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: InterceptorChain([beginnings, session.interceptor]))
        return await withTaskGroup(of: Result<Int, any Error>.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    do {
                        let options = RequestOptions(redirects: .none)
                        return .success(try await provider.send(HTTPRequest(.get, url), options).status)
                    } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test(arguments: cases)
    func `100 requests across an expiry succeed with one login`(test: Case) async throws {
        let site = try CookieSite(attributes: "; Path=/", { _ in test.refusal }, { _ in .page("Orders") })
        let session = try site.session(test.settings)
        try await session.login()
        site.end()
        let statuses = await results(session, "\(site.url)/x").map { try? $0.get() }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(site.logins == 2)
    }

    /// Each further attempt could lock the account. A request that begins after the refusal could make one.
    @Test(arguments: cases)
    func `100 requests across an expiry whose login is refused make one attempt`(test: Case) async throws {
        let site = try CookieSite(attributes: "; Path=/", { _ in test.refusal }, { _ in .page("Orders") })
        let session = try site.session(test.settings)
        try await session.login()
        site.end()
        let beginnings = Beginnings(100)
        site.refuse(after: beginnings.areAll)
        let results = await results(session, "\(site.url)/x", beginnings)
        #expect(site.logins == 2)
        for result in results {
            let error = #expect(throws: (any Error).self) { _ = try result.get() }
            let message = error.map { "\($0)" } ?? ""
            #expect(message.contains("the server refused (status 401), saying \"The account is locked.\""), "\(message)")
        }
    }
}
