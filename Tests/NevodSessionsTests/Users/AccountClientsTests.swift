import NevodHost
import NevodSessions
import NevodSupport
import NevodTestSupport
import Testing

struct AccountClientsTests {
    private struct Named: Codable, Hashable, Sendable {
        var user: String
    }

    private typealias Clients = AccountClients<User, AuthenticatingHTTPClient>

    private func clients(_ accounts: UserAccounts<User>, _ server: AccountServer) -> Clients {
        let (url, session) = (server.url, CurlSession())
        return accounts.clients { storage in
            AuthenticatingHTTPClient(
                baseURL: url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: url, session: session),
                session: session)
        }
    }

    private func data(of user: String) -> Endpoint<Named> {
        .post("/u/\(user)", body: Named(user: user), auth: .bearerToken)
    }

    @Test func `Requests go out as the current account, and the client of an account stays its own`() async throws {
        let server = try AccountServer(uses: .max)
        let accounts = UserAccounts<User>(storage: InMemoryStorage())
        let clients = clients(accounts, server)
        await #expect(throws: AccountError.self) { try await clients.send(data(of: "ada")) }
        try await accounts.signIn("ada", tokens: server.logIn("ada"))
        try await accounts.signIn("bob", tokens: server.logIn("bob"))
        #expect(try await clients.send(data(of: "bob")) == Named(user: "bob"))
        let bob = try await clients.client(of: "bob")
        try await accounts.switch(to: "ada")
        #expect(try await clients.send(data(of: "ada")) == Named(user: "ada"))
        #expect(try await bob.send(data(of: "bob")) == Named(user: "bob"))
        #expect(try await clients.current().account.id == "ada")
        await #expect(throws: AccountError.self) { try await clients.client(of: "eve") }
        #expect(server.violations.isEmpty && server.requests == 3)
    }

    @Test(arguments: [false, true]) func `A renewal that ends after its account was removed is dropped`(isAddedAgain: Bool)
        async throws
    {
        let server = try AccountServer(uses: 1)
        let disk = Disk()
        let accounts = UserAccounts<User>(storage: CrashingStorage(disk))
        let clients = clients(accounts, server)
        let old = try await accounts.signIn("ada", tokens: server.logIn("ada"))
        try await accounts.signIn("bob", tokens: server.logIn("bob"))
        let ada = try await clients.client(of: "ada")
        _ = try await ada.send(data(of: "ada"))
        let (begun, removed) = (Latch(), Latch())
        server.duringRenewal {
            begun.set()
            removed.waitOnThread()
        }
        // Its token has expired.
        let late = Task { try await ada.send(data(of: "ada")) }
        await begun.wait()
        try await accounts.remove("ada")
        if isAddedAgain { try await accounts.signIn("ada", tokens: server.logIn("ada")) }
        try await accounts.switch(to: "bob")
        server.duringRenewal(nil)
        removed.set()
        await #expect(throws: NetworkError.self) { try await late.value }
        #expect(try await accounts.storage(of: old).load() == nil)
        // The index, and a session for each account.
        let list = try await accounts.list()
        #expect(disk.contents.count == list.accounts.count + 1)
        #expect(list.accounts.map(\.id).sorted() == (isAddedAgain ? ["ada", "bob"] : ["bob"]))
        await #expect(throws: NetworkError.self) { try await ada.send(data(of: "ada")) }
        #expect(try await clients.send(data(of: "bob")) == Named(user: "bob"))
        if isAddedAgain { #expect(try await clients.client(of: "ada").send(data(of: "ada")) == Named(user: "ada")) }
        #expect(server.violations.isEmpty)
    }

    @Test func `A request that waits for a renewal goes out as its account, whichever is the current one by then`() async throws {
        let server = try AccountServer(uses: 1)
        let accounts = UserAccounts<User>(storage: InMemoryStorage())
        let clients = clients(accounts, server)
        try await accounts.signIn("bob", tokens: server.logIn("bob"))
        try await accounts.signIn("ada", tokens: server.logIn("ada"))
        _ = try await clients.send(data(of: "ada"))
        let (begun, switched) = (Latch(), Latch())
        server.duringRenewal {
            begun.set()
            switched.waitOnThread()
        }
        let late = Task { try await clients.send(data(of: "ada")) }
        await begun.wait()
        try await accounts.switch(to: "bob")
        #expect(try await clients.send(data(of: "bob")) == Named(user: "bob"))
        switched.set()
        #expect(try await late.value == Named(user: "ada"))
        #expect(server.violations.isEmpty)
    }

    /// The judge. scripts/soak runs it with 20,000 requests.
    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func `Under load, with switches, renewals and removals, no request carries another account's token`(isStored: Bool)
        async throws
    {
        let rounds = Rounds("ACCOUNTS", default: isStored ? 1000 : 4000)
        let (users, workers) = (50, 12)
        let server = try AccountServer(uses: 8)
        let folder = try TemporaryFolder()
        let accounts =
            isStored
            ? UserAccounts<User>(
                storage: try await SQLiteStorage(path: "\(folder.path)/s.db", keys: [KeyFile(path: "\(folder.path)/key")]))
            : UserAccounts<User>(storage: InMemoryStorage())
        let clients = clients(accounts, server)
        for user in 0..<users { try await accounts.signIn("u\(user)", tokens: server.logIn("u\(user)")) }
        let tally = Tally(rounds.count)
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<workers {
                group.addTask {
                    var random = SeededRandom(seed: rounds.seed &+ UInt64(worker))
                    while tally.takeOne() {
                        let other = "u\(random.next(upperBound: UInt64(users)))"
                        switch random.next(upperBound: UInt64(100)) {
                        case 0..<10: _ = try? await accounts.switch(to: other)
                        case 10: try await accounts.remove(other)
                        case 11...18: try await accounts.signIn(other, tokens: server.logIn(other), isCurrent: false)
                        case 19: try? await accounts.storage(of: other).clearAll()
                        default: break
                        }
                        do {
                            let (user, client) =
                                if random.next(upperBound: UInt64(2)) == 0 {
                                    (other, try await clients.client(of: other))
                                } else {
                                    try await {
                                        let (account, client) = try await clients.current()
                                        return (account.id, client)
                                    }()
                                }
                            let named = try await client.send(data(of: user))
                            if named.user != user { Issue.record("\(user) got the data of \(named.user), seed \(rounds.seed)") }
                            tally.note("sent")
                        } catch let error as AccountError {
                            // The account was removed, or no account is current.
                            tally.note("\(error.code)")
                            _ = try await accounts.signIn(other, tokens: server.logIn(other))
                        } catch NetworkError.unauthorized {
                            tally.note("unauthorized")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        print(
            "\(users) accounts: \(tally.counts), \(server.renewals) renewals, \(server.redirects) redirects, \(start.duration(to: .now))"
        )
        #expect(server.violations == [], "seed \(rounds.seed)")
        // About 5 and 2 of 100 requests. A run is random, and a short one may have far fewer.
        #expect(server.renewals > rounds.count / 200 && server.redirects > rounds.count / 1000)
        #expect((tally.counts["sent"] ?? 0) > rounds.count * 8 / 10)
        let list = try await accounts.list()
        #expect(Set(list.accounts.map(\.id)).count == list.accounts.count)
    }
}

private final class Tally: Sendable {
    private let rest: Locked<Int>
    private let noted = Locked<[String: Int]>([:])

    init(_ count: Int) {
        rest = Locked(count)
    }

    var counts: [String: Int] { noted.withLock { $0 } }

    func takeOne() -> Bool {
        rest.withLock { rest in
            rest -= 1
            return rest >= 0
        }
    }

    func note(_ outcome: String) {
        noted.withLock { $0[outcome, default: 0] += 1 }
    }
}
