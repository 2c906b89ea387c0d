import Foundation
import NevodHost
import NevodSessions
import NevodSupport
import NevodTestSupport
import Testing

struct ClientTests {
    private let backend: Backend

    init() throws {
        backend = try Backend()
    }

    @Test func `A login is stored, and later requests carry its token`() async throws {
        let app = App(backend.url)
        try await app.logIn()
        #expect(try await app.client.send(API.sports()) == [Sport(name: "ski"), Sport(name: "surf")])
        #expect(try await app.client.send(API.me()).email == "ada@example.com")
        #expect(backend.log.map(\.bearer) == [nil, "access-1", "access-1"])
        #expect(await app.storage.loadUser()?.email == "ada@example.com")
    }

    @Test func `A login carries no token, even if one is stored, and waits for no renewal`() async throws {
        let app = App(backend.url)
        try await app.logIn()
        backend.expireAccessTokens()
        // Due for a renewal that the server would never finish.
        try await app.storage.saveTokens(
            AuthTokens(accessToken: "old", refreshToken: "refresh-1", expiresAt: Date(timeIntervalSince1970: 1)))
        backend.setRefresh(.offline)
        _ = try await app.client.send(API.login("bob@example.com"))
        #expect(backend.log.map(\.bearer) == [nil, nil])
        #expect(backend.requests(to: "/auth/refresh").isEmpty)
        // A rejected login doesn't renew anything either.
        await #expect(throws: NetworkError.unauthorized) { try await app.client.send(API.login("bob@example.com", "wrong")) }
        #expect(backend.requests(to: "/auth/refresh").isEmpty)
    }

    @Test func `100 requests with an expired token cause one refresh`() async throws {
        let app = App(backend.url)
        try await app.logIn()
        backend.expireAccessTokens()
        try await withThrowingTaskGroup(of: [Sport].self) { group in
            for _ in 0..<100 { group.addTask { try await app.client.send(API.sports()) } }
            for try await sports in group { #expect(sports.count == 2) }
        }
        #expect(backend.requests(to: "/auth/refresh").map(\.body) == [#"{"refreshToken":"refresh-1"}"#])
        #expect(backend.requests(to: "/auth/refresh").allSatisfy { $0.bearer == nil })
        let stored = try #require(try await app.storage.load())
        #expect(stored.tokens.refreshToken == "refresh-2" && stored.user?.email == "ada@example.com")
    }

    @Test func `A refusal ends the session once, however many requests meet it`() async throws {
        let calls = Collected<Int>()
        let app = App(backend.url) { calls.append(1) }
        // Sees the end of the same session.
        let other = AuthenticatingHTTPClient(
            baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: app.storage, baseURL: backend.url),
            onSessionInvalidated: { calls.append(2) })
        for round in 1...3 {
            backend.setRefresh(.works)
            try await app.logIn()
            backend.expireAccessTokens()
            backend.setRefresh(.refused)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        await #expect(throws: NetworkError.unauthorized) {
                            try await (number.isMultiple(of: 2) ? app.client : other).send(API.sports())
                        }
                    }
                }
            }
            #expect(await app.storage.loadTokens() == nil)
            #expect(await app.storage.loadUser() == nil)
            #expect(backend.requests(to: "/auth/refresh").count == round)
            #expect(await eventually { calls.values.count == 2 * round })
        }
        #expect(calls.values.sorted() == [1, 1, 1, 2, 2, 2])
    }

    @Test func `A logout is no invalidation`() async throws {
        let calls = Collected<SessionEnd.Reason>()
        let app = App(backend.url) { calls.append(.refused) }
        var ends = app.storage.tokens.ends.makeAsyncIterator()
        try await app.logIn()
        let session = try #require(try await app.storage.load()).session
        try await app.storage.clearAll()
        let end = await ends.next()
        #expect(end?.session == session && end?.reason == .cleared)
        try await app.logIn()
        try await app.logIn("bob@example.com")
        #expect(await ends.next()?.reason == .replaced)
        backend.expireAccessTokens()
        backend.setRefresh(.refused)
        await #expect(throws: NetworkError.unauthorized) { try await app.client.send(API.sports()) }
        #expect(await ends.next()?.reason == .refused)
        #expect(await eventually { calls.values == [.refused] })
    }

    @Test func `A refresh without a network keeps the user logged in`() async throws {
        let calls = Collected<Int>()
        let app = App(backend.url) { calls.append(1) }
        try await app.logIn()
        backend.expireAccessTokens()
        backend.setRefresh(.offline)
        for _ in 0..<3 {
            let error = await #expect(throws: NetworkError.self) { try await app.client.send(API.sports()) }
            #expect(error == .authenticationFailed)
        }
        #expect(try await app.storage.load()?.tokens.refreshToken == "refresh-1")
        #expect(await app.storage.loadUser()?.email == "ada@example.com")
        backend.setRefresh(.works)
        #expect(try await app.client.send(API.sports()).count == 2)
        #expect(calls.values.isEmpty)
    }

    @Test func `A user that is saved during a refresh costs no token`() async throws {
        let (storage, saved) = (SessionStorage<User>(storage: InMemoryStorage()), Latch())
        let provider = DefaultTokenProvider(tokenStorage: storage) { old in
            // The server has spent the refresh token by now.
            try await storage.saveUser(User(id: 2, email: "new"))
            saved.set()
            return AuthTokens(accessToken: "access-2", refreshToken: "refresh-2")
        }
        let client = AuthenticatingHTTPClient(baseURL: backend.url, tokenProvider: provider)
        try await storage.save(AuthTokens(accessToken: "old", refreshToken: "refresh-1"), user: User(id: 1, email: "old"))
        _ = try? await client.send(API.sports())
        await saved.wait()
        let stored = try #require(try await storage.load())
        #expect(stored.tokens.refreshToken == "refresh-2" && stored.user?.email == "new")
    }

    @Test func `A token is sent to the service's origin only`() async throws {
        let (app, elsewhere) = (App(backend.url), try Backend())
        try await app.logIn()
        _ = try await app.client.provider.send(try HTTPRequest(.get, "\(elsewhere.url)/sports"))
        #expect(elsewhere.log.map(\.bearer) == [nil])
    }

    @Test func `An upload reports its progress`() async throws {
        let app = App(backend.url)
        try await app.logIn()
        let image = [UInt8](repeating: 7, count: 300_000)
        let endpoint = Endpoint<Uploaded>.uploadMultipart(
            "/riders/me/avatar",
            multipart: MultipartFormData(fileData: image, fileName: "photo.jpg", mimeType: "image/jpeg"), auth: .bearerToken)
        let progress = Collected<TransferProgress>()
        let uploaded = try await app.client.send(endpoint) { progress.append($0) }
        let last = try #require(progress.values.last)
        #expect(last.completed == Int64(uploaded.bytes) && last.total == last.completed && uploaded.bytes > image.count)
        #expect(progress.values.count > 1)
        let request = try #require(backend.log.last)
        #expect(request.body.contains(#"name="file"; filename="photo.jpg""#) && request.bearer == "access-1")
    }

    @Test func `The refresh endpoint and its coding can be chosen`() async throws {
        let seen = Collected<RawConnection.Request>()
        let server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                seen.append(request)
                let body = #"{"access_token": "new", "expires_at": "2040-01-02T03:04:05.678Z"}"#
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        let (encoder, decoder) = (CodingDefaults.encoder, CodingDefaults.decoder)
        encoder.keyEncodingStrategy = .convertToSnakeCase
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let provider = DefaultTokenProvider(
            tokenStorage: SessionStorage<User>(storage: InMemoryStorage()), baseURL: server.url, path: "/token/renewal",
            encoder: encoder, decoder: decoder)
        let tokens = try await provider.refresh(AuthTokens(accessToken: "a", refreshToken: "r"))
        #expect(tokens.accessToken == "new" && tokens.refreshToken == "r")
        #expect(tokens.expiresAt == Date(timeIntervalSince1970: 2_209_086_245))
        let request = try #require(seen.values.first)
        #expect(request.head.hasPrefix("POST /token/renewal HTTP/1.1") && request.body == Array(#"{"refresh_token":"r"}"#.utf8))
    }
}
