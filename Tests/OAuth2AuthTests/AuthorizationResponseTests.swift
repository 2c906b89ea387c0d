import NevodOAuth
import NevodPluginKit
import NevodSupport
import Testing

@testable import OAuth2Auth

/// Compares a response with the server's metadata.
struct AuthorizationResponseTests {
    private func code(_ query: String, issuer: String?, namesIssuer: Bool) throws(SchemeError) -> String {
        var server = Endpoints(token: "https://as.test/token")
        server.issuer = issuer
        server.namesIssuer = namesIssuer
        return String(revealing: try AuthorizationResponse(address: "http://127.0.0.1/callback?\(query)#part").code(from: server))
    }

    @Test func `The issuer must be the one that was asked, byte by byte (RFC 9207)`() throws {
        let issuer = "https://as.test"
        #expect(try code("code=c&iss=https%3A%2F%2Fas.test", issuer: issuer, namesIssuer: true) == "c")
        #expect(try code("code=c", issuer: issuer, namesIssuer: false) == "c")
        #expect(try code("code=c&iss=https%3A%2F%2Fother.test", issuer: nil, namesIssuer: false) == "c")
        for other in ["https%3A%2F%2Fas.test%2F", "https%3A%2F%2FAS.test", "", "https%3A%2F%2Fevil%0D%0A.test"] {
            let error = try #require(throws: SchemeError.self) {
                try code("code=c&iss=\(other)", issuer: issuer, namesIssuer: false)
            }
            #expect(error.message.hasPrefix("the browser's redirect is from the issuer "))
            #expect(error.message.hasSuffix(", but the login was started at https://as.test: its code was not used"))
            #expect(error.message.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F })
        }
    }

    @Test func `A server that always names its issuer can't be without it, not even in an error`() throws {
        for query in ["code=c", "error=access_denied"] {
            let error = try #require(throws: SchemeError.self) {
                try code(query, issuer: "https://as.test", namesIssuer: true)
            }
            #expect(error.message.hasPrefix("the browser's redirect names no issuer, but the metadata of https://as.test says"))
        }
    }

    @Test func `Requests are pushed if the server offers or demands it`() throws {
        var server = Endpoints(token: "https://as.test/token")
        #expect(try server.endpoint(for: .auto) == nil)
        server.requiresPushedRequests = true
        let missing = try #require(throws: SchemeError.self) { try server.endpoint(for: .auto) }
        #expect(missing.message.hasPrefix("is needed for pushed requests"))
        let never = try #require(throws: SchemeError.self) { try server.endpoint(for: .never) }
        #expect(never.message == "must not be never: the server accepts only pushed requests")
        server.pushedRequests = "https://as.test/par"
        #expect(try server.endpoint(for: .auto) == "https://as.test/par")
        #expect(try server.endpoint(for: .always) == "https://as.test/par")
        server.requiresPushedRequests = false
        #expect(try server.endpoint(for: .never) == nil)
    }

    @Test func `A server without S256 is no server for PKCE`() throws {
        var server = Endpoints(token: "https://as.test/token")
        server.authorization = "https://as.test/authorize"
        #expect(try server.authorizationEndpoint(withPKCE: true) == "https://as.test/authorize")
        server.challengeMethods = ["plain", "S256"]
        #expect(try server.authorizationEndpoint(withPKCE: true) == "https://as.test/authorize")
        server.challengeMethods = ["plain"]
        #expect(try server.authorizationEndpoint(withPKCE: false) == "https://as.test/authorize")
        #expect(throws: SchemeError.self) { try server.authorizationEndpoint(withPKCE: true) }
    }
}
