import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

/// All orders of actions, of the responses to their requests, and of sessions' ends: the test decides at random, from a seed,
/// which request goes on.
@MainActor
struct AuthStateModelTests {
    /// Requests that wait until the test releases them, one by one.
    private final class Script: AuthServicing {
        enum Request {
            case login(CheckedContinuation<Result<UserSession<User>, NetworkError>, Never>, String)
            case logout(CheckedContinuation<Result<Void, NetworkError>, Never>)
            case fetch(CheckedContinuation<Result<User, NetworkError>, Never>, String?)
            /// A read of the storage that arrives late.
            case read(CheckedContinuation<Void, Never>)
        }

        let waiting: Waiting
        let storage: SessionStorage<User>

        init(_ storage: SessionStorage<User>, _ waiting: Waiting) {
            self.storage = storage
            self.waiting = waiting
        }

        func login(email: String, password: String) async throws -> UserSession<User> {
            try await withCheckedContinuation { continuation in
                waiting.withLock { $0.append(.login(continuation, email)) }
            }.get()
        }
        func register(email: String, password: String, name: String) async throws -> UserSession<User> {
            try await login(email: email, password: password)
        }
        func logout() async throws {
            try await withCheckedContinuation { continuation in waiting.withLock { $0.append(.logout(continuation)) } }.get()
        }
        /// Responds with the user of the token that the request would carry.
        func fetchUser() async throws -> User {
            let email = try await storage.tokens.storage.load()?.accessToken
            return try await withCheckedContinuation { continuation in
                waiting.withLock { $0.append(.fetch(continuation, email)) }
            }.get()
        }
    }

    private final class Waiting: Sendable {
        private let requests = Locked<[Script.Request]>([])

        func withLock<Result>(_ body: (inout [Script.Request]) -> Result) -> Result { requests.withLock { body(&$0) } }
    }

    /// Some reads by actions arrive late, so their values may be outdated.
    private final class SlowStorage: CompareAndSwapStorage {
        @TaskLocal static var isSlow = false
        private let base = InMemoryStorage()
        private let waiting: Waiting
        private let random: Locked<SeededRandom>

        init(_ waiting: Waiting, _ seed: UInt64) {
            self.waiting = waiting
            random = Locked(SeededRandom(seed: seed))
        }

        func data(for key: StorageKey) async -> [UInt8]? {
            let value = base.data(for: key)
            guard Self.isSlow, random.withLock({ $0.next() }).isMultiple(of: 3) else { return value }
            await withCheckedContinuation { continuation in waiting.withLock { $0.append(.read(continuation)) } }
            return value
        }
        func set(_ value: [UInt8]?, for key: StorageKey) { base.set(value, for: key) }
        func remove(for key: StorageKey) { base.remove(for: key) }
        func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) -> Bool {
            base.replace(expected, with: value, for: key)
        }
    }

    private nonisolated static let failures: [NetworkError] = [.noConnection, .serverError(500), .clientError(422)]

    /// One run. A user's token is the user's address and the number of the login.
    @MainActor private final class Run {
        let storage: SessionStorage<User>
        let script: Script
        let state: AuthState<User>
        var random: SeededRandom
        let done = Locked(0)
        var begun = 0
        var trace: [String] = []
        /// Whether the user's newest action is a logout.
        var isLogout = false
        var logins = 0

        init(_ seed: UInt64) {
            let waiting = Waiting()
            storage = SessionStorage<User>(storage: SlowStorage(waiting, seed))
            script = Script(storage, waiting)
            state = AuthState(service: script, tokenStorage: storage)
            random = SeededRandom(seed: seed)
        }

        func begin(_ name: String, _ action: @escaping @MainActor () async -> Void) {
            trace.append(name)
            if name != "restore" { isLogout = name.hasSuffix("logout") }
            begun += 1
            Task { @MainActor in
                await SlowStorage.$isSlow.withValue(true) { await action() }
                done.withLock { $0 += 1 }
            }
        }

        /// Waits until each action has finished, or is waiting for a request of the script or for the state's lock. The state
        /// begins a restoration by itself when it hears of another session. That may also wait for a request.
        func settle() async throws {
            let end = ContinuousClock.now + .seconds(60)
            while true {
                let (finished, waiting) = (done.withLock { $0 }, script.waiting.withLock { $0.count })
                if finished + waiting + state.storing.waitingCount >= begun, waiting > 0 || !state.isLoading {
                    return state.takeEnds()
                }
                guard ContinuousClock.now < end else { throw CancellationError() }
                await Task.yield()
            }
        }

        /// A renewal's effect when the server rejects it.
        func refuse() async throws {
            let current = try await storage.tokens.storage.current()
            guard current.token != nil else { return }
            trace.append("refused")
            try await storage.tokens.storage.save(nil, replacing: current.version)
        }

        func rest() async throws {
            let index = script.waiting.withLock { $0.count }
            guard index > 0 else { return }
            let request = script.waiting.withLock { $0.remove(at: Int.random(in: 0..<index, using: &random)) }
            let fails = Int.random(in: 0..<4, using: &random) == 0
            let failure = AuthStateModelTests.failures.randomElement(using: &random) ?? .timeout
            trace.append("\(fails ? "fails" : "succeeds")")
            switch request {
            case .login(let continuation, let name):
                trace[trace.count - 1] += " \(name)"
                let user = Bool.random(using: &random) ? User(id: 1, email: name) : nil
                continuation.resume(
                    returning: fails
                        ? .failure(failure)
                        : .success(UserSession(tokens: AuthTokens(accessToken: name, refreshToken: "r-\(name)"), user: user)))
            case .logout(let continuation):
                trace[trace.count - 1] += " logout"
                continuation.resume(returning: fails ? .failure(failure) : .success(()))
            case .read(let continuation):
                trace[trace.count - 1] = "read"
                continuation.resume()
            case .fetch(let continuation, let name):
                trace[trace.count - 1] += " fetch \(name ?? "-")"
                let user = name.map { User(id: 1, email: $0) }
                continuation.resume(returning: fails ? .failure(failure) : user.map { .success($0) } ?? .failure(.unauthorized))
            }
        }

        /// Conditions that hold at any moment.
        func check() -> [String] {
            var faults: [String] = []
            if state.user != nil, !state.isLoggedIn { faults.append("a user without a session") }
            if isLogout, state.isLoggedIn { faults.append("logged in after a logout") }
            return faults
        }

        /// Conditions that hold when no action is in progress.
        func checkEnd() async throws -> [String] {
            var faults = check()
            let stored = try await storage.load()
            if state.isLoading { faults.append("still loading") }
            if state.isLoggedIn != (stored != nil) { faults.append("shown \(state.isLoggedIn), stored \(stored != nil)") }
            if let user = state.user, user.email != stored?.tokens.accessToken { faults.append("the user of another session") }
            if let user = stored?.user, user.email != stored?.tokens.accessToken { faults.append("stored with another's tokens") }
            return faults
        }
    }

    @Test(arguments: [UInt64](1...400))
    func `Any order leaves a consistent state`(seed: UInt64) async throws {
        let run = Run(seed)
        for _ in 0..<40 {
            switch Int.random(in: 0..<12, using: &run.random) {
            case 0, 1:
                run.logins += 1
                let name = "user\(run.logins)"
                run.begin("login \(name)") { await run.state.login(email: name, password: "") }
            case 2: run.begin("logout") { await run.state.logout() }
            case 3: run.begin("restore") { await run.state.restoreSession() }
            case 4: try await run.refuse()
            // Doesn't wait: the last action goes on while the next one begins.
            case 5: continue
            default: try await run.rest()
            }
            if Bool.random(using: &run.random) {
                try await run.settle()
                let faults = run.check()
                #expect(faults.isEmpty, "seed \(seed): \(faults) after \(run.trace)")
            }
        }
        try await run.settle()
        for _ in 0..<2000 where !run.script.waiting.withLock({ $0.isEmpty }) {
            try await run.rest()
            try await run.settle()
        }
        let faults = try await run.checkEnd()
        #expect(faults.isEmpty, "seed \(seed): \(faults) after \(run.trace)")
        // The user's next action counts, whatever came before.
        for name in ["last", nil] {
            run.begin("at last \(name ?? "logout")") {
                if let name { await run.state.login(email: name, password: "") } else { await run.state.logout() }
            }
            try await run.settle()
            while case let requests = run.script.waiting.withLock({ $0 }), !requests.isEmpty {
                run.script.waiting.withLock { $0 = [] }
                for request in requests {
                    switch request {
                    case .login(let continuation, let name):
                        let tokens = AuthTokens(accessToken: name, refreshToken: name)
                        continuation.resume(returning: .success(UserSession(tokens: tokens, user: User(id: 1, email: name))))
                    case .logout(let continuation): continuation.resume(returning: .success(()))
                    case .read(let continuation): continuation.resume()
                    case .fetch(let continuation, let name):
                        continuation.resume(returning: .success(User(id: 1, email: name ?? "")))
                    }
                }
                try await run.settle()
            }
            #expect(run.state.isLoggedIn == (name != nil) && run.state.user?.email == name, "seed \(seed): \(run.trace)")
            #expect(try await run.checkEnd().isEmpty, "seed \(seed): \(run.trace)")
        }
    }
}
