import NevodHost
import NevodTestSupport
import Testing

/// The names from 0.1 compile for one more version, with the same meaning.
struct DeprecatedNamesTests {
    @available(*, deprecated)
    @Test func `Types have their former names`() throws {
        let refused: TokenRefused = RefreshRejectedError("r")
        #expect(refused.reason == "r")
        #expect(throws: InvalidRequest.self) { try HTTPRequest(.get, "nowhere") }
        #expect(Author.caller == Provenance.caller)
        #expect(ParameterEncoding.form == .formURLEncoded)
        #expect(ParameterEncoding.formUrlEncoded == .formURLEncoded)
        #expect(UnreadableToken.self == UnreadableTokenError.self && UnboundToken.self == UnboundTokenError.self)
        var request = try HTTPRequest(.get, "http://h/")
        try request.setHeader("A", "b")
        #expect(request.headers.map(\.author) == [.caller])
    }

    @available(*, deprecated)
    @Test func `A request takes the options of its transfers`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let request = try HTTPRequest(.get, server.url)
        let response = try await NetworkProvider(session: CurlSession()).send(request, TransferOptions(delivery: .streamed))
        guard case .stream = response.body else {
            Issue.record("the delivery was ignored")
            return
        }
        #expect(try await response.body.collect() == Array("ok".utf8))
    }
}
