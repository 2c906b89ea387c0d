import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests request parameters, and the token of each set of them, with a plugin in C and real servers.
struct SchemeParametersTests {
    /// Rejects the tokens that a test names. Its flows always succeed.
    private final class Server: Sendable {
        private final class Refused: Sendable { let tokens = Locked<Set<String>>([]) }
        private let refused = Refused()
        private let box: ScriptedServer
        var url: String { box.url }
        /// "/login PARAMETERS TOKEN"
        var calls: [String] {
            box.requests.filter { $0.method == "POST" }.map { "\($0.target) \(String(decoding: $0.body, as: UTF8.self))" }
        }
        var tokens: [String] { box.requests.filter { $0.method == "GET" }.compactMap { $0["X-Token"] } }
        var parameters: [String] { box.requests.filter { $0.method == "GET" }.compactMap { $0["X-Parameters"] } }
        func refuse(_ token: String) { _ = refused.tokens.withLock { $0.insert(token) } }

        init() throws {
            let refused = refused
            box = try ScriptedServer { request in
                .init(status: refused.tokens.withLock { $0.contains(request["X-Token"] ?? "") } ? 401 : 200)
            }
        }
    }

    private let server: Server
    private let memory = InMemoryStorage()

    init() throws {
        server = try Server()
    }

    private func instance(_ scheme: String = "session") throws -> SchemeInstance {
        try TestPlugin.parameters.get().scheme(scheme).makeInstance(settings: ["url": .text(server.url)])
    }

    private func session() throws -> SchemeSession { SchemeSession(try instance(), storage: memory) }

    private func get(_ interceptor: any RequestInterceptor, _ parameters: SchemeParameters = [:]) async throws -> Int {
        try await NetworkProvider(session: CurlSession(), interceptor: interceptor)
            .send(HTTPRequest(.get, "\(server.url)/api"), RequestOptions(schemeParameters: parameters)).status
    }

    private func error(_ chain: any RequestInterceptor, _ parameters: SchemeParameters) async throws -> String {
        let error = await #expect(throws: NetworkError.self) { try await get(chain, parameters) }
        #expect(server.parameters.isEmpty && server.calls.isEmpty)
        return error.map { "\($0)" } ?? ""
    }

    // MARK: In the view

    @Test func `A scheme gets its parameters in the order of its declarations, with defaults`() async throws {
        let interceptor = TokenInterceptor(try instance("session").token)
        #expect(try await get(interceptor) == 200)
        #expect(try await get(interceptor, ["age": "-3", "scope": "b c", "acr": "high", "scope": "a&=ä"]) == 200)
        #expect(server.parameters == ["acr=low", "scope=b c|scope=a&=ä|acr=high|age=-3"])
    }

    @Test(
        arguments: [
            (["scop": "a"], "the scheme \"session\" has no parameter \"scop\"; its parameters are scope, acr, age"),
            (["acr": "middle"], "the parameter \"acr\" of the scheme \"session\" must be one of low, high, not \"middle\""),
            (["age": "old"], "the parameter \"age\" of the scheme \"session\" must be an integer, not \"old\""),
            (["acr": "low", "acr": "high"], "the parameter \"acr\" of the scheme \"session\" was given more than once"),
            (["scope": "a\0"], "the parameter \"scope\" of the scheme \"session\" contains a NUL byte"),
        ] as [(SchemeParameters, String)])
    func `An invalid parameter fails the request before anything is sent`(parameters: SchemeParameters, problem: String)
        async throws
    {
        let description = try await error(session().interceptor, parameters)
        #expect(description.contains(problem), "\(description)")
        #expect(description.contains(try instance().scheme.plugin))
    }

    @Test func `A required parameter must be given, and its scheme says what for`() async throws {
        let strict = TokenInterceptor(try instance("strict").token)
        let description = try await error(strict, [:])
        #expect(
            description.contains("the scheme \"strict\" needs the parameter \"resource\" (The server that the request is for)"))
        #expect(try await get(strict, ["resource": "https://api.example/"]) == 200)
        #expect(server.parameters == ["resource=https://api.example/"])
    }

    @Test func `Each of several schemes gets its own; a name must be known to one of them`() async throws {
        let chain = InterceptorChain([TokenInterceptor(try instance("strict").token), try session().interceptor])
        let description = try await error(chain, ["resource": "http://h/", "realm": "x"])
        #expect(description.contains("none of the schemes strict, session has a parameter \"realm\""))
        #expect(try await get(chain, ["resource": "http://h/", "scope": "a"]) == 200)
        #expect(server.parameters == ["scope=a|acr=low"])
        #expect(server.tokens == ["1 scope=a|acr=low"])
    }

    @Test func `Parameters without a scheme are refused`() async throws {
        let description = try await error(InterceptorChain([]), ["scope": "a"])
        #expect(description.contains("the scheme parameter \"scope\" can't be used: no scheme authorizes this request"))
    }

    @Test func `A route gives parameters, and the options of one request replace them by name`() async throws {
        struct Orders: Route {
            typealias Response = [UInt8]
            var domain: Service { .api }
            var endpoint: String { "/api" }
            var method: HTTPMethod { .get }
            var schemeParameters: SchemeParameters { ["scope": "a", "scope": "b", "age": "1"] }
            func decode(_ data: [UInt8], using decoder: any BodyDecoder) -> [UInt8] { data }
        }
        let provider = NetworkProvider(
            config: NetworkConfig(environments: [Service.api: SimpleEnvironment(baseURL: server.url)]),
            interceptor: TokenInterceptor(try instance().token))
        _ = try await provider.perform(Orders())
        _ = try await provider.response(for: Orders(), options: RequestOptions(schemeParameters: ["scope": "c"]))
        #expect(server.parameters == ["scope=a|scope=b|acr=low|age=1", "scope=c|acr=low|age=1"])
    }

    // MARK: A token for each set

    @Test func `Each set has a token of its own, which its flows know`() async throws {
        let interceptor = try session().interceptor
        for parameters in [[:], ["scope": "a"], ["scope": "b"], ["acr": "low"], ["scope": "a", "acr": "low"]]
            as [SchemeParameters]
        {
            #expect(try await get(interceptor, parameters) == 200)
        }
        #expect(server.calls == ["/login acr=low ", "/login scope=a|acr=low ", "/login scope=b|acr=low "])
        #expect(
            server.tokens == [
                "1 acr=low", "2 scope=a|acr=low", "3 scope=b|acr=low", "1 acr=low", "2 scope=a|acr=low",
            ])
    }

    @Test func `A 401 renews the token of its set alone`() async throws {
        let interceptor = try session().interceptor
        for scope in ["a", "b"] { #expect(try await get(interceptor, ["scope": scope]) == 200) }
        server.refuse("1 scope=a|acr=low")
        #expect(try await get(interceptor, ["scope": "a"]) == 200)
        #expect(try await get(interceptor, ["scope": "b"]) == 200)
        #expect(server.calls.count == 3)
        #expect(server.calls.last == "/refresh scope=a|acr=low 1 scope=a|acr=low")
        #expect(server.tokens.suffix(2) == ["3 scope=a|acr=low", "2 scope=b|acr=low"])
    }

    @Test func `100 concurrent requests of two sets: one login for each`() async throws {
        let provider = NetworkProvider(session: CurlSession(), interceptor: try session().interceptor)
        let url = server.url
        let statuses = try await withThrowingTaskGroup { group in
            for number in 0..<100 {
                group.addTask {
                    try await provider.send(
                        HTTPRequest(.get, "\(url)/api"),
                        RequestOptions(schemeParameters: ["scope": number.isMultiple(of: 2) ? "a" : "b"])
                    ).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        #expect(server.calls.sorted() == ["/login scope=a|acr=low ", "/login scope=b|acr=low "])
    }

    @Test func `Tokens are stored under the session's key and the set: readable if short, else a digest`() async throws {
        let session = try session()
        let long = String(repeating: "x", count: 100)
        try await session.login()
        for parameters in [["scope": "b c", "age": "7", "scope": "a"], ["scope": long]] as [SchemeParameters] {
            try await session.login(parameters: parameters)
        }
        let key = session.key
        #expect(key.rawValue.hasPrefix("nevod.scheme.parameters.session@\(server.url);"))
        #expect(memory.data(for: key) != nil)
        #expect(memory.data(for: StorageKey(rawValue: "\(key)?age=7&scope=b%20c&scope=a")) != nil)
        let digest = try Command.python(
            "import hashlib, sys; print(hashlib.sha256(sys.argv[1].encode()).hexdigest()[:32])", ["scope=\(long)"])
        #expect(memory.data(for: StorageKey(rawValue: "\(key)?~\(digest[0])")) != nil)
        let index = memory.data(for: StorageKey(rawValue: "\(key)?")).map { String(decoding: $0, as: UTF8.self) }
        #expect(index == "age=7&scope=b%20c&scope=a\nscope=\(long)")
        // Another process.
        #expect(try await get(self.session().interceptor, ["scope": "b c", "scope": "a", "age": "7"]) == 200)
        #expect(server.calls.count == 3)
        #expect(server.tokens == ["2 scope=b c|scope=a|acr=low|age=7"])
    }

    @Test func `A logout in another process ends the sessions of all sets`() async throws {
        try await session().login()
        for scope in ["a", "b"] { try await session().login(parameters: ["scope": scope]) }
        try await session().logout()
        #expect(
            server.calls.suffix(3).sorted() == [
                "/logout acr=low 1 acr=low", "/logout scope=a|acr=low 1 scope=a|acr=low",
                "/logout scope=b|acr=low 1 scope=b|acr=low",
            ])
        #expect(try await session().tokenStorage.load() == nil)
        for scope in ["a", "b"] { #expect(try await session().tokenStorage(for: ["scope": scope]).load() == nil) }
        #expect(memory.data(for: StorageKey(rawValue: "\(try session().key)?")) == nil)
    }

    /// Fails the second write, as if the process ended before it.
    private struct CrashingStorage: CompareAndSwapStorage {
        let memory: InMemoryStorage
        /// Called before the second write.
        var beforeSecond: @Sendable () throws -> Void = { throw Crash() }
        let writes = Writes()
        final class Writes: Sendable { let count = Locked(0) }
        struct Crash: Error {}

        func data(for key: StorageKey) -> [UInt8]? { memory.data(for: key) }
        func remove(for key: StorageKey) { memory.remove(for: key) }
        func set(_ value: [UInt8]?, for key: StorageKey) throws {
            try count()
            memory.set(value, for: key)
        }
        func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) throws -> Bool {
            try count()
            return memory.replace(expected, with: value, for: key)
        }
        private func count() throws {
            let number = writes.count.withLock { count in
                count += 1
                return count
            }
            if number == 2 { try beforeSecond() }
        }
    }

    @Test func `A set is listed before its token is written`() async throws {
        let session = SchemeSession(try instance(), storage: CrashingStorage(memory: memory))
        await #expect(throws: CrashingStorage.Crash.self) { try await session.login(parameters: ["scope": "a"]) }
        let key = session.key
        #expect(memory.data(for: StorageKey(rawValue: "\(key)?")) == Array("scope=a".utf8))
        #expect(memory.data(for: StorageKey(rawValue: "\(key)?scope=a")) == nil)
    }

    @Test func `A logout of another process during a login doesn't hide the new token`() async throws {
        let (memory, key) = (memory, try session().key)
        let session = SchemeSession(
            try instance(),
            storage: CrashingStorage(memory: memory) {
                // The other process has found no token for this set.
                memory.remove(for: StorageKey(value: "\(key)?"))
            })
        try await session.login(parameters: ["scope": "a"])
        #expect(memory.data(for: StorageKey(value: "\(key)?scope=a")) != nil)
        #expect(memory.data(for: StorageKey(value: "\(key)?")) == Array("scope=a".utf8))
    }

    @Test func `The set that was listed first is dropped with its token when there are too many`() async throws {
        let storage = AnyKeyValueStorage(memory)
        let index = ParameterSetIndex(storage, key: "k?", lock: AsyncLock())
        let dropped = Collected<String>()
        let drop = { @Sendable (set: String) async throws -> Void in
            // A crash here must leave the set on the list.
            #expect(try await index.sets().contains(set))
            dropped.append(set)
        }
        for number in 1...ParameterSetIndex.most { try await index.add("scope=\(number)", drop: drop) }
        try await index.add("scope=1", drop: drop)
        #expect(dropped.values == [])
        try await index.add("scope=new", drop: drop)
        #expect(dropped.values == ["scope=1"])
        #expect(try await index.sets().count == ParameterSetIndex.most)
        #expect(try await index.sets().last == "scope=new")
    }

    @Test func `A session remembers at most 1000 sets, and those in the storage keep their tokens`() async throws {
        let session = try session()
        try await session.login(parameters: ["age": "0"])
        for age in 1...1100 { _ = try session.tokenStorage(for: ["age": "\(age)"]) }
        #expect(session.sessions?.all.count == 1000)
        #expect(try await session.tokenStorage(for: ["age": "0"]).load() != nil)
        #expect(try await get(session.interceptor, ["age": "0"]) == 200)
        #expect(server.calls.count == 1)
    }
}
