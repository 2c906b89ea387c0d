import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a real library's flows, driven by the host, over real HTTP.
struct FlowDriverTests {
    private let log = Collected<String>()

    private func instance(_ mode: String, _ url: String = "http://127.0.0.1:1", issuer: String? = nil) throws -> SchemeInstance {
        var settings: SchemeSettings = ["mode": .text(mode), "url": .text(url)]
        if let issuer { settings.add("issuer", .text(issuer)) }
        return try TestPlugin.flow.get().scheme().makeInstance(
            settings: settings, log: { [log] in if $1.isLoggedByScheme { log.append($1) } })
    }

    private func driver(
        _ instance: SchemeInstance, _ interaction: (any UserInteraction)? = nil, _ limits: FlowLimits = FlowLimits()
    ) -> FlowDriver {
        FlowDriver(instance: instance, session: CurlSession(), interaction: interaction, limits: limits)
    }

    private func problem(_ body: () async throws -> IssuedToken?) async -> String {
        do {
            _ = try await body()
            return "none"
        } catch {
            return "\(error)"
        }
    }

    private func text(_ token: IssuedToken?) -> String? {
        token.map { $0.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// A test's simulated person.
    private struct Person: UserInteraction {
        var answers: [String: Secret] = [:]
        var seen = Collected<String>()
        var onOpen: @Sendable (String) async throws -> Void = { _ in }

        func loginBegins(with scheme: String, at origins: [Origin]) async {
            seen.append("login at \(origins.map(\.description).joined(separator: " "))")
        }
        func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
            seen.append("asked \(questions.map(\.name))")
            return answers
        }
        func show(_ text: String, url: String) async throws { seen.append("shown \(text)") }
        func open(_ url: String) async throws {
            seen.append("opened")
            try await onOpen(url)
        }
    }

    @Test func `A flow that returns a token at once sends nothing`() async throws {
        let person = Person()
        let token = try await driver(instance("token"), person).run(.login, keep: { _ in })
        #expect(text(token) == "T")
        #expect(token?.account == "me")
        #expect(person.seen.values == ["login at http://127.0.0.1:1"])
        #expect(await eventually { log.values == ["freed after 01 steps"] })
    }

    /// Each fault ends the flow with an error that names it, and the flow is freed.
    @Test(arguments: [
        ("no-action", "it returned no action", 1),
        ("two-actions", "token is the second action of one step", 1),
        ("status", "with the function flow_step, which returned the unknown status 99", 1),
        ("foreign", "it tried to send to http://other.invalid, which no setting names; allowed are", 1),
        ("smuggle", "its url is not UTF-8, or contains a control character", 1),
        ("browse", "it called browse before listen", 1),
        ("give-up", "was refused: no such user", 1),
        ("huge-token", "the token has 10485760 bytes, more than 65536", 1),
        ("empty-token", "its token is empty", 1),
        ("huge-state", "its state has 10485760 bytes, more than 65536", 1),
        ("long-wait", "it asked to wait for", 1),
        ("endless-wait", "it waited more than 30 times", 31),
        ("endless-ask", "it took more than 20 steps", 21),
        ("endless-send", "it took more than 20 steps", 21),
        ("tries-forever", "it tried 100 unsupported actions in one step", 1),
    ])
    func `A flow that breaks the contract is ended`(mode: String, words: String, steps: Int) async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let person = Person(answers: ["password": Secret("p")])
        let driver = driver(try instance(mode, server.url), person, FlowLimits(steps: 20, waits: 30))
        let problem = await problem { try await driver.run(.login, keep: { _ in }) }
        #expect(problem.contains(words), "\(problem)")
        // The worker that made the last step frees it, if it holds the last reference.
        let freed = "freed after \(steps < 10 ? "0" : "")\(steps) steps"
        #expect(await eventually { log.values.last == freed })
    }

    @Test func `A device code is polled 500 times, and neither waits nor the steps after them count`() async throws {
        let polls = Collected<Bool>()
        let server = try ScriptedServer { _ in
            polls.append(true)
            return polls.values.count == 500 ? ScriptedServer.Response(body: "polled") : ScriptedServer.Response(status: 428)
        }
        let driver = driver(try instance("poll", server.url))
        #expect(text(try await driver.run(.login, keep: { _ in })) == "polled")
        #expect(server.requests.count == 500)
        let never = try ScriptedServer { _ in ScriptedServer.Response(status: 428) }
        let bounded = self.driver(try instance("poll", never.url), nil, FlowLimits(waits: 400))
        let problem = await problem { try await bounded.run(.login, keep: { _ in }) }
        #expect(problem.contains("it waited more than 400 times"), "\(problem)")
    }

    @Test func `Responses are limited in number, and a too large one is an error for the flow`() async throws {
        let body = String(repeating: "x", count: 1000)
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n\(body)")
        let bounded = driver(try instance("endless-send", server.url), nil, FlowLimits(bytes: 4500))
        let problem = await problem { try await bounded.run(.login, keep: { _ in }) }
        #expect(problem.contains("its responses have more than 4500 bytes in total"), "\(problem)")
        let flood = try RawServer { connection, _ in
            while connection.readRequest() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n")
                while connection.write([UInt8](repeating: 0, count: 65536)) {}
            }
        }
        let large = await self.problem { try await self.driver(self.instance("exchange", flood.url)).run(.login, keep: { _ in }) }
        #expect(large.contains("can't be done now: "), "\(large)")
    }

    @Test func `The error for a question without interaction names it`() async throws {
        let driver = driver(try instance("password"))
        #expect(await problem { try await driver.run(.login, keep: { _ in }) }.contains("asks for password, but got no answer"))
        let silent = self.driver(try instance("password"), Person())
        #expect(await problem { try await silent.run(.login, keep: { _ in }) }.contains("asks for password"))
        let person = Person(answers: ["password": Secret("hunter2")])
        #expect(text(try await self.driver(try instance("password"), person).run(.login, keep: { _ in })) == "hunter2")
    }

    @Test func `A flow's time is limited while it waits for a person`() async throws {
        // Also ignores cancellation.
        struct Sleeper: UserInteraction {
            let asked = Latch()
            let awake = Latch()
            func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
                asked.set()
                await awake.wait()
                return [:]
            }
            func show(_ text: String, url: String) async throws {}
            func open(_ url: String) async throws {}
        }
        let person = Sleeper()
        // On a busy machine, the time may be up before the question. Then it gets more.
        for duration in [Duration.milliseconds(500), .seconds(5), .seconds(30)] {
            let driver = driver(try instance("password"), person, FlowLimits(duration: duration))
            let problem = await problem { try await driver.run(.login, keep: { _ in }) }
            guard person.asked.isSet || duration == .seconds(30) else { continue }
            #expect(problem.contains("asks for password, but got no answer"), "\(problem)")
            break
        }
        person.awake.set()
    }

    @Test func `A flow is notified once of its cancellation, and freed, regardless of the action it returns`() async throws {
        let (reached, gone) = (Latch(), Latch())
        let server = try RawServer { connection, _ in
            guard connection.readRequest() != nil else { return }
            reached.set()
            gone.waitOnThread()
        }
        let instance = try instance("ignores-cancel", server.url)
        let driver = driver(instance)
        let task = Task { try await driver.run(.login, keep: { _ in }) }
        await reached.wait()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        gone.set()
        // The start and the cancellation.
        #expect(await eventually { log.values == ["freed after 02 steps"] })
    }

    @Test func `A token to be kept is saved before the flow goes on`() async throws {
        let server = try RawServer.responding("HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n")
        let kept = Collected<String?>()
        let driver = driver(try instance("keep", server.url), nil, FlowLimits(steps: 3))
        _ = try? await driver.run(.refresh, keep: { kept.append(text($0)) })
        #expect(kept.values == ["kept"])
    }

    @Test func `Redirects are followed to the origins that a flow may use`() async throws {
        let other = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen")
        let seen = Collected<String>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                seen.append(request.head)
                let to = request.head.hasPrefix("POST /login") ? "/moved" : "\(other.url)/steal"
                connection.write("HTTP/1.1 307 There\r\nLocation: \(to)\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let driver = driver(try instance("exchange", server.url))
        // A redirect to another origin isn't followed, and this flow treats it as a failure.
        #expect(await problem { try await driver.run(.login, keep: { _ in }) }.contains("can't be done now: "))
        #expect(seen.values.count == 2)
        #expect(seen.values.allSatisfy { $0.contains("X-Flow: 1") })
    }

    @Test func `An issuer's metadata names further origins; one that is not its own names none`() async throws {
        let endpoint = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nissued")
        for isOwn in [true, false] {
            let holder = Collected<String>()
            let issuer = try RawServer { connection, _ in
                while connection.readRequest() != nil {
                    let name = isOwn ? holder.values[0] : "https://somebody.else"
                    let body = #"{"issuer":"\#(name)","token_endpoint":"\#(endpoint.url)"}"#
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
            holder.append(issuer.url)
            let driver = driver(try instance("issuer", issuer.url, issuer: issuer.url))
            if isOwn {
                #expect(text(try await driver.run(.login, keep: { _ in })) == "issued")
            } else {
                #expect(await problem { try await driver.run(.login, keep: { _ in }) }.contains("which no setting names"))
            }
        }
    }

    @Test func `The browser's redirect reaches the loopback address; other requests are ignored`() async throws {
        let person = Person(onOpen: { url in
            let start = try #require(url.firstRange(of: "redirect_uri=")?.upperBound)
            let back = String(url[start...])
            let session = CurlSession()
            func status(_ url: String, _ method: HTTPMethod = .get) async throws -> Int {
                try await session.send(HTTPRequest(method, url), TransferOptions()).status
            }
            #expect(try await status(back.replacing("/back", with: "/favicon.ico")) == 404)
            #expect(try await status(back, .post) == 404)
            // Another name that resolves to this address, and connections that send nothing.
            var renamed = try HTTPRequest(.get, back)
            try renamed.setHeader("Host", "evil.example")
            #expect(try await session.send(renamed, TransferOptions()).status == 404)
            let port = try #require(UInt16(back.split(separator: ":")[2].prefix { $0 != "/" }))
            let silent = try (0..<15).map { _ in try SilentConnection(to: port) }
            defer { withExtendedLifetime(silent) {} }
            #expect(try await status(back + "?code=c&state=s") == 200)
        })
        let token = try await driver(try instance("listen"), person).run(.login, keep: { _ in })
        #expect(text(token)?.hasSuffix("/back?code=c&state=s") == true)
        #expect(text(token)?.hasPrefix("http://127.0.0.1:") == true)
    }
}

/// Connects and sends nothing.
private final class SilentConnection: Sendable {
    private let descriptor: Int32

    init(to port: UInt16) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafeBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return false }
            return connect(descriptor, address, socklen_t(bytes.count)) == 0
        }
        try #require(isConnected)
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
