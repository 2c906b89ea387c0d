import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Requests to an authorization server, sent by a provider with interceptors for an API.
struct OAuthInterceptorsTests {
    /// Writes credentials without declaring it, and overwrites the request's own.
    private struct Gateway: RequestInterceptor {
        let phase: TokenPhase

        func adapt(_ exchange: inout Exchange) async throws {
            try exchange.request.setHeader("Authorization", "Bearer gateway")
            try exchange.request.addHeader("X-Signature", "gateway")
            try exchange.request.setCookie("session", "gateway")
            exchange.request.appendQueryItem("api_key".utf8, "gateway".utf8)
        }
    }

    private static let chains: [[any RequestInterceptor]] = [
        [HeadersInterceptor(headers: ["X-API-Key": "gateway", "Authorization": "Bearer gateway"])],
        [Gateway(phase: .credential)], [Gateway(phase: .signature)],
        [TokenInterceptor(QueryAPIKeyToken(apiKey: "gateway"), provides: [])],
        [TokenInterceptor(Token(value: "gateway"), provides: [])],
    ]

    @Test(arguments: chains.indices)
    func `Credentials of interceptors stay out, and plain lines go along`(chain: Int) async throws {
        let server = try ScriptedServer { request in
            let url = "http://\(request["Host"] ?? "")"
            return .json(#"{"issuer":"\#(url)","token_endpoint":"\#(url)/token?tenant=1","access_token":"a"}"#)
        }
        let plain = HeadersInterceptor(headers: ["User-Agent": "shop/1.0", "Accept-Language": "da"])
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: InterceptorChain([plain] + Self.chains[chain]))
        let secret = Secret("s3cret")
        for authentication in [OAuthClient.Authentication.none, .basic(secret), .post(secret)] {
            _ = try await OAuthClient(
                issuer: server.url, clientID: "app", authentication: authentication, provider: provider
            ).clientCredentials()
        }
        let requests = server.requests
        #expect(requests.count == 6)
        #expect(requests.allSatisfy { $0["User-Agent"] == "shop/1.0" && $0["Accept-Language"] == "da" })
        for request in requests {
            #expect(!request.target.contains("gateway"))
            #expect(!request.headers.contains { $0.value.contains("gateway") })
        }
        let forms = requests.filter { $0.method == "POST" }
        #expect(forms.map(\.target) == Array(repeating: "/token?tenant=1", count: 3))
        #expect(forms.map { $0["Authorization"] } == [nil, "Basic \(Base64.encoded(Array("app:s3cret".utf8)))", nil])
        #expect(forms.allSatisfy { $0["Content-Type"] == "application/x-www-form-urlencoded" })
    }
}
