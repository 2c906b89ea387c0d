import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Real TLS servers on loopback, under pinned names and other names.
struct CurlPinTests {
    private let authority: CertificateAuthority
    /// The digests of the servers' keys.
    private let (here, other): (String, String)
    private let options = TransferOptions(timeout: .seconds(60))

    init() async throws {
        authority = try await CertificateAuthority.make("here", "other")
        (here, other) = (try await authority.pin("here"), try await authority.pin("other"))
    }

    private func session(_ pins: [String: [String]], all: String? = nil, proxy: ProxySettings = .none) throws -> CurlSession {
        CurlSession(
            CurlSession.Configuration(
                caFile: authority.certificate, pinnedPublicKey: all, proxy: proxy, pins: try PinnedKeys(pins)))
    }

    private func server(_ name: String = "here") async throws -> ProbeServer {
        try await ProbeServer.start("echo", [authority.server(name)])
    }

    /// The server's URL under another name.
    private func url(_ server: ProbeServer, _ host: String, _ path: String = "/") -> String {
        server.url.replacingHost(by: host) + path
    }

    private func failure(_ session: CurlSession, _ url: String) async throws -> TransportError? {
        let request = try HTTPRequest(.get, url)
        do throws(TransportError) {
            _ = try await session.send(request, options)
            return nil
        } catch {
            return error
        }
    }

    @Test func `Only a server with a pinned key is used, and only under the pinned name`() async throws {
        let server = try await server()
        let (pinned, free) = (url(server, "localhost"), url(server, "127.0.0.1"))
        #expect(try await failure(session(["localhost": [here]]), pinned) == nil)
        #expect(try await failure(session(["localhost": [other, here]]), pinned) == nil)
        let wrong = try session(["localhost": [other]])
        let error = try #require(try await failure(wrong, pinned))
        #expect(error.code == .pinMismatch && error.curlCode == 90)
        #expect(
            error.message
                == "the key of \(pinned.dropFirst(8).dropLast()) is not pinned; if its owner replaced it, pin the new one")
        #expect(try await failure(wrong, free) == nil)
        // No spelling of the name bypasses its pins.
        for name in ["LOCALHOST", "Localhost"] {
            #expect(try await failure(wrong, url(server, name))?.code == .pinMismatch, "\(name)")
        }
        let address = try session(["127.0.0.1": [other]])
        for name in ["127.0.0.1", "127.1", "0x7f000001", "2130706433"] {
            #expect(try await failure(address, url(server, name))?.code == .pinMismatch, "\(name)")
        }
    }

    @Test func `A pattern holds for the hosts below a name`() async throws {
        let server = try await server()
        let session = try session(["*.localhost": [other], "api.localhost": [here]])
        #expect(try await failure(session, url(server, "api.localhost")) == nil)
        #expect(try await failure(session, url(server, "a.b.localhost"))?.code == .pinMismatch)
        #expect(try await failure(session, url(server, "localhost")) == nil)
    }

    /// curl's own verdicts, with digests by openssl.
    @Test func `curl agrees`() async throws {
        let server = try await server()
        let target = url(server, "localhost")
        for pins in [[here], [other], [other, here], [here, other]] {
            let (file, text) = (authority.certificate, pins.joined(separator: ";"))
            let judged = try await onOwnThread {
                try Command.output([
                    "bash", "-c", "curl -s --noproxy '*' --cacert \"$0\" --pinnedpubkey \"$1\" \"$2\" -o /dev/null; echo $?",
                    file,
                    text, target,
                ])
            }
            let error = try await failure(session(["localhost": pins]), target)
            #expect(judged == "\(error?.curlCode ?? 0)\n", "\(pins)")
        }
    }

    // MARK: Connections

    @Test func `A handle that is used for other hosts keeps the pins of each`() async throws {
        let (server, second) = (try await server(), try await self.server("other"))
        let session = try session(["localhost": [here], "127.0.0.1": [other]])
        for _ in 0..<3 {
            #expect(try await failure(session, url(server, "localhost")) == nil)
            #expect(try await failure(session, url(server, "api.localhost")) == nil)
            #expect(try await failure(session, url(second, "127.0.0.1")) == nil)
            #expect(try await failure(session, url(second, "localhost"))?.code == .pinMismatch)
            #expect(try await failure(session, url(server, "127.0.0.1"))?.code == .pinMismatch)
        }
    }

    @Test func `A connection is reused with its pins`() async throws {
        let server = try await server()
        let session = try session(["localhost": [here]])
        let connections = Collected<Int>()
        var options = options
        options.onMetrics = { connections.append($0.newConnections) }
        for _ in 0..<3 { _ = try await session.send(HTTPRequest(.get, url(server, "localhost")), options) }
        #expect(connections.values == [1, 0, 0])
    }

    @Test func `libcurl doesn't reuse a connection for other pins`() async throws {
        // A change of pins relies on this promise.
        let server = try await server()
        let (target, file) = (url(server, "localhost"), authority.certificate)
        let other = other
        let output = try await onOwnThread {
            try Command.output([
                "bash", "-c",
                "curl -s --noproxy '*' -o /dev/null -w '%{exitcode} %{num_connects}\\n' --cacert \"$0\" \"$2\" --next -s --noproxy '*' "
                    + "-o /dev/null -w '%{exitcode} %{num_connects}\\n' --cacert \"$0\" --pinnedpubkey \"$1\" \"$2\" || true",
                file, other, target,
            ])
        }
        #expect(output == "0 1\n90 1\n")
    }

    @Test func `A pin for a host precedes the pin for all`() async throws {
        let (server, second) = (try await server(), try await self.server("other"))
        let session = try session(["localhost": [here]], all: other)
        #expect(try await failure(session, url(server, "localhost")) == nil)
        #expect(try await failure(session, url(second, "127.0.0.1")) == nil)
        #expect(try await failure(session, url(server, "127.0.0.1"))?.code == .pinMismatch)
        #expect(try await failure(session, url(second, "localhost"))?.code == .pinMismatch)
    }

    // MARK: Redirects and proxies

    @Test func `Pins hold after a redirect, in both directions`() async throws {
        let (server, second) = (try await server(), try await self.server("other"))
        func status(_ pins: [String: [String]], from first: String, to last: String) async throws -> Int {
            let provider = NetworkProvider(config: NetworkConfig(), session: try session(pins))
            return try await provider.send(HTTPRequest(.get, "\(url(server, first, "/to"))?\(url(second, last))")).status
        }
        #expect(try await status(["localhost": [here]], from: "localhost", to: "127.0.0.1") == 200)
        #expect(try await status(["localhost": [other]], from: "127.0.0.1", to: "localhost") == 200)
        for (pins, from, to) in [
            (["localhost": [other]], "localhost", "127.0.0.1"), (["localhost": [here]], "127.0.0.1", "localhost"),
        ] {
            do {
                _ = try await status(pins, from: from, to: to)
                Issue.record("a server with another key was used, from \(from) to \(to)")
            } catch NetworkError.transport(let error) {
                #expect(error.code == .pinMismatch)
            }
        }
    }

    @Test func `A pinned host is refused over http, before anything is sent`() async throws {
        let connections = Collected<Int>()
        let plain = try RawServer { connection, index in
            connections.append(index)
            while connection.readRequest() != nil { connection.write("HTTP/1.1 204 No Content\r\n\r\n") }
        }
        let session = try session(["localhost": [here]])
        let error = try #require(try await failure(session, plain.url.replacingHost(by: "localhost")))
        #expect(error.code == .pinMismatch && error.message.contains("use https"))
        #expect(connections.values.isEmpty)
        #expect(try await failure(session, plain.url) == nil)
    }

    @Test func `Through a proxy, the server's key is compared, and not the proxy's`() async throws {
        let folder = try TemporaryFolder()
        let proxy = try await ConfiguredServer.start { port in
            let text = "Port \(port)\nListen 127.0.0.1\nLogFile \"\(folder.path)/log\"\nMaxClients 100\n"
            return ["tinyproxy", "-d", "-c", try folder.write("configuration", text)]
        }
        let server = try await server()
        let settings = ProxySettings(url: "http://127.0.0.1:\(proxy.port)")
        // The proxy's own host is also pinned, which doesn't concern connections through the proxy.
        let target = url(server, "localhost")
        #expect(try await failure(session(["localhost": [here], "127.0.0.1": [other]], proxy: settings), target) == nil)
        #expect(try await failure(session(["localhost": [other]], proxy: settings), target)?.code == .pinMismatch)
        let log = try String(decoding: contents(of: "\(folder.path)/log"), as: UTF8.self)
        #expect(log.contains("CONNECT localhost"))
    }

    // MARK: Keys

    @Test func `A key may be replaced by its backup, and by no other key of the same authority`() async throws {
        let pins = ["localhost": [here, other]]
        let session = try session(pins)
        for name in ["here", "other"] {
            let server = try await server(name)
            #expect(try await failure(session, url(server, "localhost")) == nil)
        }
        let rotated = try await server("other")
        #expect(try await failure(self.session(["localhost": [here]]), url(rotated, "localhost"))?.code == .pinMismatch)
    }

    @Test func `A pinned key of an untrusted authority is refused all the same`() async throws {
        let server = try await server()
        let stranger = try await CertificateAuthority.make()
        let session = CurlSession(
            CurlSession.Configuration(caFile: stranger.certificate, proxy: .none, pins: try PinnedKeys(["localhost": [here]])))
        #expect(try await failure(session, url(server, "localhost"))?.code == .tls)
    }

    @Test func `Pins hold for HTTP/2`() async throws {
        let folder = try TemporaryFolder()
        let both = authority.server("here")
        let server = try await ConfiguredServer.start { port in
            let text = """
                daemon off; master_process off; pid \(folder.path)/pid; error_log \(folder.path)/error;
                events {}
                http {
                    access_log off;
                    client_body_temp_path \(folder.path)/1; proxy_temp_path \(folder.path)/2; fastcgi_temp_path \(folder.path)/3;
                    uwsgi_temp_path \(folder.path)/4; scgi_temp_path \(folder.path)/5;
                    server {
                        listen 127.0.0.1:\(port) ssl http2;
                        ssl_certificate \(both); ssl_certificate_key \(both);
                        return 204;
                    }
                }
                """
            return ["/usr/sbin/nginx", "-e", "\(folder.path)/error", "-c", try folder.write("configuration", text)]
        }
        let url = "https://localhost:\(server.port)/"
        let right = try session(["localhost": [here]])
        for _ in 0..<3 {
            let response = try await right.send(HTTPRequest(.get, url), options)
            #expect(response.status == 204 && response.version == .http2)
        }
        #expect(try await failure(session(["localhost": [other]]), url)?.code == .pinMismatch)
    }
}

extension String {
    fileprivate func replacingHost(by host: String) -> String { replacing("127.0.0.1", with: host, maxReplacements: 1) }
}
