import NevodOAuth
import NevodSupport
import Testing

struct AuthorizationResponseTests {
    private typealias Fault = AuthorizationResponse.Fault
    private func outcome(
        _ query: String, issuer: String? = "https://as.test", namesIssuer: Bool = false
    ) throws -> AuthorizationResponse.Outcome {
        try AuthorizationResponse(address: "http://127.0.0.1/callback?\(query)#code=part").outcome(
            issuer: issuer, namesIssuer: namesIssuer)
    }

    @Test func `A response has a code or an error`() throws {
        #expect(try outcome("state=s&code=a%2Bb+c") == .code("a+b c"))
        #expect(try outcome("error=access_denied&code=c") == .error("access_denied", description: nil))
        #expect(try outcome("error=&error_description=no+way") == .error("", description: "no way"))
        let form = Array("state=s&code=c".utf8).withUnsafeBytes { AuthorizationResponse(form: $0) }
        #expect(try form.outcome(issuer: nil, namesIssuer: false) == .code("c"))
    }

    @Test func `The issuer must be the one that was asked, byte by byte`() throws {
        #expect(try outcome("code=c&iss=https%3A%2F%2Fas.test", namesIssuer: true) == .code("c"))
        #expect(try outcome("code=c") == .code("c"))
        #expect(try outcome("code=c&iss=https%3A%2F%2Fother.test", issuer: nil) == .code("c"))
        for other in ["https://as.test/", "https://AS.test", ""] {
            #expect(throws: Fault.otherIssuer(other)) { try outcome("code=c&iss=\(other)") }
        }
        // Not even another server's error is trusted.
        for query in ["code=c", "error=access_denied"] {
            #expect(throws: Fault.noIssuer) { try outcome(query, namesIssuer: true) }
            #expect(throws: Fault.otherIssuer("x")) { try outcome("\(query)&iss=x") }
        }
    }

    @Test func `A response with an ambiguous or invalid code is refused`() {
        #expect(throws: Fault.noCode) { try outcome("state=s") }
        for code in ["", "%FF", "a%0D%0Ab", "%00", String(repeating: "a", count: 8193)] {
            #expect(throws: Fault.invalidCode) { try outcome("code=\(code)") }
        }
        #expect(throws: Fault.repeated(name: "code", count: 2)) { try outcome("code=a&code=b") }
        #expect(throws: Fault.repeated(name: "error", count: 3)) { try outcome("error=a&%65rror=b&error&code=c") }
        #expect(throws: Fault.repeated(name: "iss", count: 2)) { try outcome("code=a&iss=b&iss=b") }
    }

    @Test(arguments: [
        ("state=st%26te&code=x", true), ("code=x", false), ("state=", false), ("state=stte", false), ("state=ST%26TE", false),
        ("state=st%26te&state=st%26te", false),
    ])
    func `A response belongs to the login with its state`(query: String, answers: Bool) {
        #expect(AuthorizationResponse(address: "app:/?\(query)").answers(Secret("st&te")) == answers)
        #expect(!AuthorizationResponse(address: "app:/?state=").answers(Secret("")))
    }

    @Test(arguments: [
        ("http://localhost:8400", "http://localhost:8400/", true), ("HTTP://LocalHost:80/Login", "http://localhost/Login", true),
        ("https://app.example.com/login", "HTTPS://APP.example.com:443/login", true), ("app:/login", "app:/login", true),
        ("http://localhost", "http://localhost:8400/", false), ("http://localhost", "https://localhost/", false),
        ("https://a.example", "https://a.example@evil.example/", false), ("app:", "app:/", false),
        ("http://h/login", "http://h/log\u{0301}in", false),
    ])
    func `A response is at its redirect URI`(redirectURI: String, base: String, isAccepted: Bool) {
        let response = AuthorizationResponse(address: "\(base)?state=s&code=x", redirectURI: redirectURI)
        #expect((response != nil) == isAccepted)
    }

    @Test(arguments: [
        ("app=1&b=%20", "code=x&b=+&state=s&app=1", true), ("app=1", "%61pp=1&state=s&code=x", true),
        ("app=1&app=2", "app=1&app=2&state=s", true), ("app", "app=&state=s", true), ("app=1", "state=s", false),
        ("app=1", "app=2&state=s", false), ("app=1", "app=1&app=2&state=s", false), ("app=1&app=2", "app=2&app=1", false),
        ("app=1", "state=s#app=1", false),
    ])
    func `The redirect URI's own query must come back`(own: String, query: String, isAccepted: Bool) {
        let response = AuthorizationResponse(address: "https://h/?\(query)", redirectURI: "https://h/?\(own)")
        #expect((response != nil) == isAccepted)
    }

    @Test(arguments: [
        ("HTTP://LocalHost:80?code=c", "http://localhost/"), ("https://a.example:443/x?y#z", "https://a.example/x"),
        ("http://[::1]:80/A", "http://[::1]/A"), ("http://a:8080/?b=http://c/", "http://a:8080/"),
        ("com.example.app:/cb?code=c", "com.example.app:/cb"), ("4/0AX-code", "4/0AX-code"), ("", ""), (":", ":"),
        ("https:", "https:"), ("http://", "http:///"),
    ])
    func `Addresses are compared as browsers write them`(address: String, place: String) {
        #expect(RedirectAddress.place(of: address) == place)
    }

    @Test(arguments: [
        ("https://h/a", "https://h/a?x=1%202"), ("https://h/a?t=1", "https://h/a?t=1&x=1%202"),
        ("https://h/a?", "https://h/a?x=1%202"), ("https://h/a?t=1&", "https://h/a?t=1&x=1%202"),
        ("https://h/a?t=x#part", "https://h/a?t=x&x=1%202"),
    ])
    func `A login's address keeps its endpoint's own query`(endpoint: String, address: String) {
        #expect(RedirectAddress.opening(endpoint, with: "x=1+2".utf8) == address)
        #expect(RedirectAddress.opening(endpoint, with: "x=1%202".utf8) == address)
    }
}
