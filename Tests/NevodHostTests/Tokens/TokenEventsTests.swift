import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct TokenEventsTests {
    private let memory = InMemoryStorage()
    private let end = Token(value: "end")

    /// Collects the events of a storage until a token named "end" is saved.
    private func events(
        of storage: TokenStorage<Token>, during body: () async throws -> Void
    ) async throws -> [String] {
        let events = storage.events
        let reader = Task { [end] in
            var seen: [String] = []
            for await event in events {
                if event.token == end { break }
                seen.append(Self.text(event))
            }
            return seen
        }
        try await body()
        try await storage.save(end)
        return await reader.value
    }

    private static func text(_ event: TokenEvent<Token>) -> String {
        switch event {
        case .saved(let token): "saved \(token.value)"
        case .renewed(let token): "renewed \(token.value)"
        case .refused(let error): "refused \(error is RefreshRejectedError)"
        case .cleared: "cleared"
        }
    }

    private func provider(
        _ storage: TokenStorage<Token>, _ refresh: @escaping @Sendable (Token?) async throws -> Token
    ) -> NetworkProvider {
        NetworkProvider(
            session: TestTransport { _, request in request.headers["Authorization"] == "Bearer good" ? 200 : 401 },
            interceptor: AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: refresh))
    }

    private let request = Result { try HTTPRequest(.get, "http://h/") }

    @Test func `A login, a renewal, the server's refusal and a logout are told apart, in order`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        let events = try await events(of: storage) {
            try await storage.save(Token(value: "old"))
            _ = try await provider(storage) { _ in Token(value: "good") }.send(request.get())
            try await storage.save(Token(value: "stale"))
            _ = try? await provider(storage) { _ in throw RefreshRejectedError("revoked") }.send(request.get())
            // Nothing is left to clear or to reject.
            try await storage.clear()
            _ = try? await provider(storage) { _ in throw RefreshRejectedError("none") }.send(request.get())
            try await storage.save(Token(value: "again"))
            try await storage.clear()
            try await storage.clear()
        }
        #expect(events == ["saved old", "renewed good", "saved stale", "refused true", "saved again", "cleared"])
    }

    @Test func `A transient failure is no event`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        let events = try await events(of: storage) {
            try await storage.save(Token(value: "old"))
            for error in [NetworkError.noConnection, .serverError(503), .unauthorized] {
                _ = try? await provider(storage) { _ in throw error }.send(request.get())
            }
        }
        #expect(events == ["saved old"])
    }

    @Test func `Changes by others are saved or cleared`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        let memory = memory
        var events = storage.events.makeAsyncIterator()
        try await storage.save(Token(value: "mine"))
        #expect(await events.next().map(Self.text) == "saved mine")
        memory.set(Array("theirs".utf8), for: .token)
        #expect(await events.next().map(Self.text) == "saved theirs")
        memory.remove(for: .token)
        #expect(await events.next().map(Self.text) == "cleared")
    }

    @Test func `100 requests that meet the refusal at once are one event, over HTTP`() async throws {
        let server = try RotatingServer(latency: 300)
        let storage = TokenStorage<OAuthToken>(storage: memory)
        server.fail(with: Array(repeating: RotatingServer.response(400, #"{"error":"invalid_grant"}"#), count: 200))
        try await storage.save(RotatingServer.first)
        let plain = NetworkProvider(session: CurlSession())
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: AuthenticationInterceptor(
                tokenStorage: storage, refreshStrategy: { try await server.refresh($0, plain) }))
        let (first, second) = (Collected<String>(), Collected<String>())
        let readers = [first, second].map { seen in
            let events = storage.events
            return Task {
                for await event in events {
                    seen.append("\(event)")
                    if event.token?.accessToken == "end" { return }
                }
            }
        }
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { _ = try? await provider.send(HTTPRequest(.get, "\(server.url)/x")) }
            }
        }
        try await storage.save(OAuthToken(accessToken: "end"))
        for reader in readers { await reader.value }
        for seen in [first, second] {
            #expect(seen.values.filter { $0.hasPrefix("the server refused") }.count == 1, "\(seen.values)")
            #expect(seen.values.count == 2, "\(seen.values)")
        }
    }

    @Test func `A logout that races the refusal ends the session once, for one reason`() async throws {
        for round in 0..<300 {
            let storage = TokenStorage<Token>(storage: InMemoryStorage())
            try await storage.save(Token(value: "old"))
            let begun = Latch()
            let provider = provider(storage) { _ in
                begun.set()
                for _ in 0..<round % 7 { await Task.yield() }
                throw RefreshRejectedError("revoked")
            }
            let events = try await events(of: storage) {
                let request = try request.get()
                async let refused: Void = { _ = try? await provider.send(request) }()
                await begun.wait()
                for _ in 0..<round % 5 { await Task.yield() }
                try await storage.clear()
                await refused
            }
            #expect(events == ["refused true"] || events == ["cleared"], "round \(round)")
        }
    }

    @Test func `A token that another process has cleared meanwhile is refused once all the same`() async throws {
        for round in 0..<300 {
            let memory = InMemoryStorage()
            let storage = TokenStorage<Token>(storage: memory)
            try await storage.save(Token(value: "old"))
            let provider = provider(storage) { _ in
                memory.remove(for: .token)
                for _ in 0..<round % 7 { await Task.yield() }
                throw RefreshRejectedError("revoked")
            }
            let events = try await events(of: storage) { _ = try? await provider.send(request.get()) }
            #expect(events == ["refused true"] || events == ["cleared", "refused true"], "round \(round)")
        }
    }

    @Test func `A login during the renewal outlives the refusal of the old token`() async throws {
        let storage = TokenStorage<Token>(storage: memory)
        let events = try await events(of: storage) {
            try await storage.save(Token(value: "old"))
            _ = try? await provider(storage) { _ in
                try await storage.clear()
                try await storage.save(Token(value: "good"))
                throw RefreshRejectedError("revoked")
            }.send(request.get())
        }
        #expect(events == ["saved old", "cleared", "saved good"])
    }

    @Test func `Two processes with one store report one refusal, and one end each`() async throws {
        // Two instances share no memory, like two processes.
        let folder = try TemporaryFolder()
        let stores = [try FileStorage(directory: folder.path), try FileStorage(directory: folder.path)]
        let sessions = stores.map { TokenStorage<Token>(storage: $0) }
        try await sessions[0].save(Token(value: "old"))
        _ = try await sessions[1].load()
        let ends = Collected<String>()
        let readers = sessions.map { session in
            let events = session.events
            return Task {
                for await event in events {
                    if case .saved(let token) = event {
                        if token.value == "end" { return }
                    } else {
                        ends.append(Self.text(event))
                    }
                }
            }
        }
        let providers = sessions.map { provider($0) { _ in throw RefreshRejectedError("revoked") } }
        let request = try request.get()
        await withTaskGroup { group in
            for provider in providers {
                for _ in 0..<50 { group.addTask { _ = try? await provider.send(request) } }
            }
        }
        for session in sessions { try await session.save(Token(value: "end")) }
        for reader in readers { await reader.value }
        #expect(ends.values.count == 2 && ends.values.contains("refused true"), "\(ends.values)")
    }

    @Test func `An event doesn't print its token`() {
        for event in [TokenEvent.saved(Token(value: "s3cret")), .renewed(Token(value: "s3cret")), .cleared] {
            var text = "\(event) \(String(reflecting: event))"
            dump(event, to: &text)
            #expect(!text.contains("s3cret"))
        }
    }
}
