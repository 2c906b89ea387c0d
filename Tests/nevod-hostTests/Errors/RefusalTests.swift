import NevodSupport
import Testing

@testable import NevodHost
@testable import nevod_host

@Suite struct RefusalTests {
    private static func headers(_ lines: [String]) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines { headers.add("WWW-Authenticate", line, by: .host) }
        return headers
    }

    @Test(
        "Challenges, in one line or several, up to a line's first fault",
        arguments: [
            ([], []), (["Basic"], ["Basic"]),
            (
                ["Basic realm=\"a, b\", Digest realm=x, qop=\"auth, auth-int\""],
                ["Basic (realm \"a, b\")", "Digest (realm \"x\")"]
            ),
            (["Negotiate a87421==", "Basic realm=\"x\""], ["Negotiate", "Basic (realm \"x\")"]),
            (["Basic, Digest realm=\"x"], ["Basic"]),
            (["Basic realm=\"\""], ["Basic"]), ([", ,Bearer"], ["Bearer"]), (["realm=\"x\""], []),
        ] as [([String], [String])])
    func challenges(lines: [String], titles: [String]) {
        #expect(AuthChallenge.all(of: Self.headers(lines)).map(\.title) == titles)
    }

    @Test("Errors of RFC 6750, and names in any letter case")
    func errors() {
        let challenge = AuthChallenge.all(
            of: Self.headers(["Bearer ERROR=\"invalid_token\", Error_Description=\"It is \\\"old\\\"\""])
        ).first
        #expect(challenge?.error == "invalid_token (It is \"old\")")
        #expect(AuthChallenge("Bearer", ["error": "x"]).error == "x")
        #expect(AuthChallenge("Bearer", ["error_description": "x"]).error == nil)
    }

    @Test("Of many challenges the first are read")
    func many() {
        #expect(AuthChallenge.all(of: Self.headers(Array(repeating: "Basic, Digest a=b", count: 1000))).count == 8)
    }

    @Test(
        "Reasons in JSON bodies",
        arguments: [
            (#"{"detail": "a", "title": "b"}"#, "a"), (#"{"error": "x", "error_description": "y"}"#, "y"),
            (#"{"error": "x"}"#, "x"),
            (#"{"error": {"code": 1, "message": "m"}}"#, "m"), (#"{"message": "", "title": "t"}"#, "t"),
            (#"{"message": 7}"#, nil),
            (#"["message"]"#, nil), ("{", nil), ("", nil),
        ] as [(String, String?)])
    func details(body: String, reason: String?) {
        #expect(RefusalDetail.reason(in: Array(body.utf8)) == reason)
    }

    @Test("The credential that a request carried")
    func carried() throws {
        var request = try HTTPRequest(.get, "http://localhost/?a=b")
        #expect(CarriedCredential(request) == nil)
        request.headers.add("Accept", "*/*", by: .caller)
        request.headers.add("Proxy-Authorization", "Basic x", by: .caller)
        #expect(CarriedCredential(request) == nil)
        request.headers.add("X-API-Key", "k", by: .caller)
        #expect(CarriedCredential(request) == .line(name: "X-API-Key"))
        request.headers.add("X-Signature", "s", by: .scheme("hmac"))
        #expect(CarriedCredential(request) == .scheme)
    }
}
