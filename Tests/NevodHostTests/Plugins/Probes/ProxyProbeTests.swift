import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests Basic for a proxy, as a plugin. Tinyproxy requires it, and the origin returns the received head.
struct ProxyProbeTests {
    private let proxy: ConfiguredServer
    private let folder: TemporaryFolder
    private let credential = "Basic \(base64("ali:sesame"))"

    init() async throws {
        let folder = try TemporaryFolder()
        self.folder = folder
        proxy = try await ConfiguredServer.start { port in
            let configuration = """
                Port \(port)
                Listen 127.0.0.1
                BasicAuth ali sesame
                LogFile "\(folder.path)/log"
                MaxClients 100

                """
            return ["tinyproxy", "-d", "-c", try folder.write("configuration", configuration.utf8)]
        }
    }

    private static func instance(_ target: SchemeTarget, _ password: String = "sesame") throws -> SchemeInstance {
        try TestPlugin.basic.get().scheme().makeInstance(
            settings: ["username": "ali", "password": .secret(Secret(copying: Array(password.utf8)))], target: target)
    }

    private static func provider(
        _ instances: [SchemeInstance], proxy: ProxySettings, caFile: String? = nil
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(), session: CurlSession(CurlSession.Configuration(caFile: caFile, proxy: proxy)),
            interceptor: InterceptorChain(instances.map { SchemeSession($0, storage: InMemoryStorage()).interceptor }))
    }

    private var settings: ProxySettings { ProxySettings(url: "http://127.0.0.1:\(proxy.port)") }

    private func get(_ url: String, _ provider: NetworkProvider) async throws -> (status: Int, text: String) {
        let response = try await provider.send(HTTPRequest(.get, url))
        return (response.status, String(decoding: try await response.body.collect(), as: UTF8.self).lowercased())
    }

    private func secureOrigin() async throws -> (ProbeServer, caFile: String) {
        let (key, certificate) = ("\(folder.path)/key", "\(folder.path)/certificate")
        _ = try Command.output([
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
        ])
        let both = try folder.write("both", contents(of: key) + contents(of: certificate))
        return (try await ProbeServer.start("echo", [both]), certificate)
    }

    @Test func `A plain request carries the credential to the proxy, and not to the origin`() async throws {
        let origin = try await ProbeServer.start("echo")
        let refused = try await get(origin.url, Self.provider([], proxy: settings))
        #expect(refused.status == 407)
        let wrong = try await get(origin.url, Self.provider([Self.instance(.proxy, "other")], proxy: settings))
        #expect(wrong.status == 401 || wrong.status == 407)
        let response = try await get(origin.url, Self.provider([Self.instance(.proxy)], proxy: settings))
        #expect(response.status == 200)
        #expect(response.text.contains("via:") && !response.text.contains("authorization"))
    }

    @Test func `A tunnel is opened with the credential, and none of it reaches the origin`() async throws {
        let (origin, caFile) = try await secureOrigin()
        let refused = await #expect(throws: NetworkError.self) {
            try await get(origin.url, Self.provider([], proxy: settings, caFile: caFile))
        }
        guard case .transport(let error)? = refused, error.code == .proxyRefused(status: 407) else {
            Issue.record("\(String(describing: refused))")
            return
        }
        let provider = try Self.provider([Self.instance(.proxy)], proxy: settings, caFile: caFile)
        for _ in 0..<2 {
            let response = try await get(origin.url, provider)
            #expect(response.status == 200)
            #expect(!response.text.contains("authorization"))
        }
    }

    @Test func `Without a proxy the credential is not sent`() async throws {
        let origin = try await ProbeServer.start("echo")
        let response = try await get(origin.url, Self.provider([Self.instance(.proxy)], proxy: .none))
        #expect(response.status == 200)
        #expect(!response.text.contains("authorization"))
        let (secure, caFile) = try await secureOrigin()
        let other = try await get(secure.url, Self.provider([Self.instance(.proxy)], proxy: .none, caFile: caFile))
        #expect(other.status == 200)
        #expect(!other.text.contains("authorization"))
    }

    @Test func `An origin and a proxy each get their own`() async throws {
        let origin = try await ProbeServer.start("echo")
        let provider = try Self.provider([Self.instance(.origin, "for the origin"), Self.instance(.proxy)], proxy: settings)
        let response = try await get(origin.url, provider)
        #expect(response.status == 200)
        let own = "authorization: basic \(base64("ali:for the origin"))".lowercased()
        #expect(response.text.contains("\n\(own)\n") && !response.text.contains("proxy-authorization"))
    }

    @Test func `A redirect to another origin goes through the same proxy`() async throws {
        let (first, second) = try await (ProbeServer.start("echo"), ProbeServer.start("echo"))
        let provider = try Self.provider([Self.instance(.origin), Self.instance(.proxy)], proxy: settings)
        let response = try await get("\(first.url)/to?\(second.url)/end", provider)
        #expect(response.status == 200)
        #expect(response.text.contains("/end http/1.1") && !response.text.contains("authorization"))
    }

    @Test func `The credential is one header line for the proxy, and in no tunnelled request`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                connection.write(
                    "HTTP/1.1 \(request.head.hasPrefix("CONNECT") ? "503 No" : "200 OK")\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let provider = try Self.provider([Self.instance(.proxy)], proxy: ProxySettings(url: server.url))
        _ = try await provider.send(HTTPRequest(.get, "http://one.example/a"))
        _ = try? await provider.send(HTTPRequest(.get, "https://two.example/b"))
        let lines = heads.values.map { $0.split(separator: "\r\n").map(String.init) }
        #expect(lines.compactMap(\.first) == ["GET http://one.example/a HTTP/1.1", "CONNECT two.example:443 HTTP/1.1"])
        for head in lines {
            #expect(head.filter { $0.hasPrefix("Proxy-Authorization:") } == ["Proxy-Authorization: \(credential)"])
        }
        // A reused handle doesn't keep the credentials.
        let session = CurlSession(CurlSession.Configuration(proxy: ProxySettings(url: server.url)))
        var request = try HTTPRequest(.get, "http://one.example/a")
        request.proxyAuthorization = "Basic once"
        _ = try await session.send(request, TransferOptions())
        request.proxyAuthorization = nil
        _ = try await session.send(request, TransferOptions())
        #expect(heads.values.suffix(2).map { $0.contains("Basic once") } == [true, false])
    }

    @Test func `A scheme for a proxy may write Proxy-Authorization only`() throws {
        let instance = try TestPlugin.view.get().scheme().makeInstance(target: .proxy)
        var request = try HTTPRequest(.get, "http://h/")
        #expect { try instance.authorize(&request, attempt: 1) } throws: { error in
            "\(error)".contains("it is meant for the origin, but the target is a proxy")
        }
    }

    // MARK: Challenges

    private static let challenge = "Proxy-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"

    private static func digest() throws -> SchemeInstance {
        try TestPlugin.digest.get().scheme().makeInstance(
            settings: ["username": "ali", "password": .secret(Secret(copying: Array("sesame".utf8)))], target: .proxy)
    }

    @Test func `The response to a proxy's challenge uses the absolute form, with one count for all origins`() async throws {
        let heads = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                let isRefused = !request.head.contains("Proxy-Authorization: Digest ")
                connection.write(
                    "HTTP/1.1 \(isRefused ? "407 No\r\n\(Self.challenge)" : "200 OK")\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let provider = Self.provider([try Self.digest()], proxy: ProxySettings(url: server.url))
        for host in ["one", "two"] {
            #expect(try await provider.send(HTTPRequest(.get, "http://\(host).example/a?b")).status == 200)
        }
        #expect(heads.values.count == 3)
        #expect(heads.values[1].contains("uri=\"http://one.example/a?b\"") && heads.values[1].contains("nc=00000001"))
        #expect(heads.values[2].contains("uri=\"http://two.example/a?b\"") && heads.values[2].contains("nc=00000002"))
    }

    @Test func `A challenge from inside a tunnel is not the proxy's`() async throws {
        let (origin, caFile) = try await secureOrigin()
        let instance = try Self.digest()
        let response = try await get("\(origin.url)/407", Self.provider([instance], proxy: .none, caFile: caFile))
        #expect(response.status == 407)
        #expect(instance.state(at: StatePlace()) == nil)
    }
}

private func base64(_ text: String) -> String {
    Array(text.utf8).withUnsafeBytes { Base64.encoded($0) }
}
