import NevodSupport
import Testing

@testable import NevodHost

struct OAuthRedirectTests {
    private let login = OAuthLogin(redirectURI: "http://127.0.0.1:8080/login?app=1", state: "st&te")

    private func server(namesIssuer: Bool = false, issuer: String? = "https://login.example.com") throws -> OAuthServer {
        try OAuthServer(tokenEndpoint: "https://login.example.com/token", issuer: issuer, namesIssuer: namesIssuer)
    }

    private func code(_ query: String, at server: OAuthServer, _ base: String = "http://127.0.0.1:8080/login") throws -> String {
        try OAuthRedirect("\(base)?app=1&\(query)", for: login, at: server).code
    }

    @Test func `A login's response has its code`() throws {
        #expect(try code("state=st%26te&code=a%2Bb+c", at: server()) == "a+b c")
        #expect(try code("code=x&state=st%26te&iss=https%3A%2F%2Flogin.example.com#code=y", at: server(namesIssuer: true)) == "x")
        // Without a known issuer, there is nothing to compare with.
        #expect(try code("code=x&state=st%26te&iss=https%3A%2F%2Fother.example.com", at: server(issuer: nil)) == "x")
    }

    @Test(arguments: [
        "code=x", "code=x&state=", "code=x&state=stte", "code=x&state=ST%26TE", "code=x&state=st%26te&state=st%26te",
        "state=st%26te",
        "code=&state=st%26te", "code=x&code=y&state=st%26te", "code=x%00&state=st%26te", "",
        "code=x&state=st%26te&iss=https%3A%2F%2Fattacker.example.com",
        "code=x&state=st%26te&iss=https%3A%2F%2Flogin.example.com%2F",
        "code=x&state=st%26te&iss=https%3A%2F%2Flogin.example.com&iss=https%3A%2F%2Flogin.example.com",
        "error=access_denied", "error=access_denied&state=st%26te&iss=https%3A%2F%2Fattacker.example.com",
        "error=%1B&state=st%26te",
    ])
    func `The response of another login or server is refused`(query: String) throws {
        let error = #expect(throws: OAuthError.self) { try code(query, at: server()) }
        #expect(error?.code == .invalidRedirect)
    }

    @Test func `A server that always names itself must do so`() throws {
        let error = #expect(throws: OAuthError.self) { try code("code=x&state=st%26te", at: server(namesIssuer: true)) }
        #expect(error?.code == .invalidRedirect)
        #expect(error?.description.contains("RFC 9207") == true)
    }

    @Test(arguments: [
        "http://127.0.0.1:8081/login", "http://127.0.0.1:8080/Login", "http://127.0.0.1:8080/login/", "http://127.0.0.1:8080/",
        "https://127.0.0.1:8080/login", "http://localhost:8080/login", "http://127.0.0.1:8080/log\u{0301}in",
    ])
    func `Another path, port or host is refused`(base: String) throws {
        let error = #expect(throws: OAuthError.self) { try code("code=x&state=st%26te", at: server(), base) }
        #expect(error?.code == .invalidRedirect)
    }

    @Test(arguments: [
        ("http://localhost:8400", "http://localhost:8400/"), ("http://localhost:8400/", "http://localhost:8400"),
        ("HTTP://LocalHost:80/Login", "http://localhost/Login"), ("https://app.example.com:443", "https://app.example.com/"),
        ("https://app.example.com/login", "HTTPS://APP.example.com:443/login"),
        ("com.example.app:/login", "com.example.app:/login"),
    ])
    func `An address is the redirect URI in the form in which a browser writes it`(redirectURI: String, base: String) throws {
        let login = OAuthLogin(redirectURI: redirectURI, state: "s")
        #expect(try OAuthRedirect("\(base)?state=s&code=x", for: login, at: server()).code == "x")
    }

    @Test(arguments: [
        ("http://localhost", "http://localhost:8400/"), ("http://localhost:443", "http://localhost/"),
        ("http://localhost", "https://localhost/"), ("https://a.example", "https://a.example.com/"),
        ("https://a.example", "https://a.example@evil.example/"), ("com.example.app:", "com.example.app:/"),
    ])
    func `An address at another place is refused`(redirectURI: String, base: String) throws {
        let login = OAuthLogin(redirectURI: redirectURI, state: "s")
        let error = #expect(throws: OAuthError.self) {
            try OAuthRedirect("\(base)?state=s&code=x", for: login, at: server())
        }
        #expect(error?.code == .invalidRedirect)
    }

    /// A program may use it to distinguish its servers (RFC 9700 §4.4.2.2).
    @Test(arguments: [
        ("app=1&b=%20", "code=x&b=+&state=s&app=1", true), ("app=1", "%61pp=1&state=s&code=x", true),
        ("app=1&app=2", "app=1&app=2&state=s&code=x", true), ("app", "app=&state=s&code=x", true),
        ("app=1", "state=s&code=x", false), ("app=1", "app=2&state=s&code=x", false),
        ("app=1", "app=1&app=2&state=s&code=x", false), ("app=1&app=2", "app=2&app=1&state=s&code=x", false),
        ("app=1", "state=s&code=x#app=1", false),
    ])
    func `The redirect URI's own query must come back`(own: String, query: String, isAccepted: Bool) throws {
        let login = OAuthLogin(redirectURI: "https://app.example.com/?\(own)", state: "s")
        let code = try? OAuthRedirect("https://app.example.com/?\(query)", for: login, at: server()).code
        #expect(code == (isAccepted ? "x" : nil))
    }

    @Test func `A refusal has the server's code`() throws {
        let denied = #expect(throws: OAuthError.self) {
            try code("error=access_denied&error_description=the+user+said+no&state=st%26te", at: server())
        }
        #expect(denied?.serverCode == .accessDenied)
        #expect(denied?.code == .refused)
        #expect(denied?.description == "the authorization server refused the login: access_denied (the user said no)")
        let busy = #expect(throws: OAuthError.self) { try code("error=temporarily_unavailable&state=st%26te", at: server()) }
        #expect(busy?.isTransient == true)
    }
}
