import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests where connections go, with which protocols, and what is reported about them.
struct CurlConnectionTests {
    private let details = Collected<ConnectionDetails>()
    private var options: TransferOptions {
        var options = TransferOptions(timeout: .seconds(60))
        options.onConnection = { [details] in details.append($0) }
        return options
    }

    private func session(
        proxy: ProxySettings = .none, user: String? = nil, caFile: String? = nil,
        _ change: (inout ConnectionSettings) -> Void = { _ in }
    ) -> CurlSession {
        var settings = ConnectionSettings()
        change(&settings)
        return CurlSession(
            CurlSession.Configuration(
                caFile: caFile, proxy: proxy, proxyUser: user.map { Secret($0) }, connection: settings))
    }

    /// Keeps the heads of the requests.
    private func server(_ heads: Collected<String>, _ response: String = "HTTP/1.1 204 No Content\r\n\r\n") throws -> RawServer {
        try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                connection.write(response)
            }
        }
    }

    private func port(_ server: RawServer) -> String { String(server.authority.split(separator: ":")[1]) }

    @Test func `An address and another place are for the name that the request has`() async throws {
        let heads = Collected<String>()
        let server = try server(heads)
        let port = port(server)
        let resolving = session { $0.addresses = ["a.test:\(port):127.0.0.1"] }
        #expect(try await resolving.send(HTTPRequest(.get, "http://a.test:\(port)/x"), options).status == 204)
        let leading = session { $0.connectTo = ["b.test:80:\(server.authority)"] }
        #expect(try await leading.send(HTTPRequest(.get, "http://b.test/y"), options).status == 204)
        #expect(
            heads.values.map { $0.contains("\r\nHost: a.test:\(port)\r\n") || $0.contains("\r\nHost: b.test\r\n") } == [
                true, true,
            ])
        // Other names are looked up.
        await #expect(throws: TransportError.self) { try await resolving.send(HTTPRequest(.get, "http://c.invalid/"), options) }
    }

    @Test func `The details of a connection, which the next transfer reuses`() async throws {
        let server = try server(Collected<String>())
        let session = session { $0.interface = "127.0.0.1" }
        for _ in 0..<2 { _ = try await session.send(HTTPRequest(.get, server.url), options) }
        #expect(details.values.map(\.isReused) == [false, true])
        for found in details.values {
            #expect(found.remoteAddress == "127.0.0.1" && found.localAddress == "127.0.0.1")
            #expect("\(found.remotePort)" == port(server) && found.localPort > 0)
            #expect(found.tls == nil && found.proxy == nil && found.verificationResult == 0 && found.connectStatus == 0)
        }
    }

    @Test func `A transfer that fails before it connects has empty details, once`() async throws {
        let port = try RawServer.closedPort()
        await #expect(throws: TransportError.self) {
            try await session().send(HTTPRequest(.get, "http://127.0.0.1:\(port)"), options)
        }
        #expect(details.values.count == 1)
        #expect(details.values.first?.remoteAddress == "" && details.values.first?.tls == nil)
    }

    @Test func `The version of TLS, and the server's certificate`() async throws {
        let authority = try await CertificateAuthority.make("here")
        let server = try await ProbeServer.start("echo", [authority.server("here")])
        let url = server.url.replacing("127.0.0.1", with: "localhost", maxReplacements: 1)
        let limited = session(caFile: authority.certificate) {
            ($0.maximumTLS, $0.reportsCertificateFields) = (.v12, true)
        }
        _ = try await limited.send(HTTPRequest(.get, url), options)
        _ = try await session(caFile: authority.certificate) { $0.minimumTLS = .v13 }.send(HTTPRequest(.get, url), options)
        try #require(details.values.count == 2)
        #expect(details.values.map { $0.tls?.version } == ["TLSv1.2", "TLSv1.3"])
        let certificate = try #require(details.values[0].tls?.certificate)
        #expect(!certificate.issuer.isEmpty && certificate.notBefore < certificate.notAfter)
        #expect(details.values[0].certificateFields.first?.contains { $0.hasPrefix("Subject:") } == true)
        #expect(details.values[1].certificateFields.isEmpty)
    }

    @Test func `A proxy's user and password are for the proxy`() async throws {
        let heads = Collected<String>()
        let proxy = try server(heads)
        let session = session(proxy: ProxySettings(url: proxy.url), user: "ada:open sesame")
        #expect(try await session.send(HTTPRequest(.get, "http://a.test/x"), options).status == 204)
        let head = try #require(heads.values.first)
        #expect(head.hasPrefix("GET http://a.test/x HTTP/1.1\r\n"))
        #expect(head.contains("\r\nProxy-Authorization: Basic YWRhOm9wZW4gc2VzYW1l\r\n"))
        #expect(details.values.first?.proxy == proxy.url || details.values.first?.proxy == "\(proxy.url)/")
        // A host that needs no proxy gets none of its data.
        let direct = self.session(
            proxy: ProxySettings(url: "http://127.0.0.1:1").bypassing("127.0.0.0/8"), user: "ada:open sesame")
        #expect(try await direct.send(HTTPRequest(.get, proxy.url), options).status == 204)
        #expect(heads.values.last?.lowercased().contains("authorization") == false)
    }

    @Test func `Another list of direct hosts replaces that of the environment`() throws {
        let origin = { (host: String) in try HTTPRequest(.get, "http://\(host)/").origin }
        let proxies = ProxySettings { ["http_proxy": "http://p:1", "no_proxy": "a.test"][$0] }
        #expect(try proxies.proxy(for: origin("a.test")) == nil)
        #expect(try proxies.bypassing("b.test").proxy(for: origin("a.test")) == "http://p:1")
        #expect(try proxies.bypassing("b.test").proxy(for: origin("b.test")) == nil)
        #expect(try proxies.bypassing("").proxy(for: origin("a.test")) == "http://p:1")
        #expect(try proxies.bypassing("*").proxy(for: origin("c.test")) == nil)
    }

    @Test func `A Unix domain socket that isn't there`() async throws {
        for socket in [ConnectionSettings.UnixSocket.path("/nonexistent/socket"), .abstract("nevod-nonexistent")] {
            let session = session { $0.unixSocket = socket }
            let error = await #expect(throws: TransportError.self) {
                try await session.send(HTTPRequest(.get, "http://a.test"), options)
            }
            #expect(error?.code == .connectionFailed)
        }
    }
}
