internal import NevodHost
internal import NevodStorage
internal import NevodSupport
public import Observation

/// The state of an app's session for its UI: observable, on the main actor.
///
/// ```swift
/// let state = AuthState(service: AuthService(client: client), tokenStorage: storage)
/// await state.restoreSession()
/// if !state.isLoggedIn { await state.login(email: "ada@example.com", password: password) }
/// ```
///
/// Actions don't throw; the ``error`` of the last one can be shown. They may overlap in any order:
/// - A login, registration or logout supersedes all earlier actions; their late outcomes are dropped.
/// - A session that has ended, for example because the server refused to renew its tokens, is not shown again.
/// - Once no action is in progress, the session that is shown is the stored one.
@MainActor @Observable
public final class AuthState<User: Codable & Sendable> {
    /// All properties at one instant.
    public private(set) var status = AuthStatus<User>()

    @ObservationIgnored private var machine = AuthStateMachine<User>()
    @ObservationIgnored private let actions: Actions
    @ObservationIgnored private let storage: SessionStorage<User>
    /// Held while a user's action changes what is stored. A logout holds it until the server has been told, so that its request
    /// never carries the token of the next login.
    @ObservationIgnored let storing = AsyncLock()
    @ObservationIgnored private let observers = StatusObservers<User>()
    @ObservationIgnored private let inbox = SessionEndInbox()
    /// The session that a login saved last, and the number of that login.
    @ObservationIgnored private var lastSaved: (session: SessionIdentifier, number: Int)?
    @ObservationIgnored private var registration: SessionEndHandlers.Registration?
    /// Whether another process, or another part of the app, may have begun a session during a login or a logout. It is shown only
    /// after that action has finished.
    @ObservationIgnored private var mayBeUnshown = false

    private struct Actions: Sendable {
        let login: @Sendable (String, String) async throws -> UserSession<User>
        let register: @Sendable (String, String, String) async throws -> UserSession<User>
        let logout: @Sendable () async throws -> Void
        let fetchUser: @Sendable () async throws -> User
    }

    /// - Parameters:
    ///   - service: sends the requests.
    ///   - tokenStorage: stores the session; the same storage as in the service's client.
    public init(service: some AuthServicing<User>, tokenStorage: SessionStorage<User>) {
        actions = Actions(
            login: { email, password in try await service.login(email: email, password: password).userSession },
            register: { email, password, name in
                try await service.register(email: email, password: password, name: name).userSession
            },
            logout: { try await service.logout() }, fetchUser: { try await service.fetchUser() })
        storage = tokenStorage
        registration = tokenStorage.tokens.values.onEnd(
            { [weak self, inbox] end in
                inbox.put(end)
                Task { await self?.takeEnds() }
            }, begun: { [weak self] _ in Task { await self?.showBegun() } })
    }

    /// Whether a session is stored, as of the last read.
    public var isLoggedIn: Bool { status.isLoggedIn }
    /// The user; nil if not logged in, or if the user hasn't been fetched yet.
    public var user: User? { status.user }
    /// Whether a login, a registration, a logout or a restoration is in progress.
    public var isLoading: Bool { status.isLoading }
    /// The error of the last action; nil if it succeeded.
    public var error: AuthError? { status.error }

    /// The status now, and after each change from now on. A slow reader gets only the latest.
    public var changes: AsyncStream<AuthStatus<User>> { observers.add(status) }

    // MARK: Actions of the user

    /// Logs in with the service's login.
    public func login(email: String, password: String) async {
        let actions = actions
        await login { try await actions.login(email, password) }
    }

    /// Creates an account with the service's registration, and logs in.
    public func register(email: String, password: String, name: String) async {
        let actions = actions
        await login { try await actions.register(email, password, name) }
    }

    /// Logs in another way, such as with a code.
    ///
    /// - Parameter request: returns the session's tokens and its user, without saving them.
    public func login(_ request: @escaping @Sendable () async throws -> some UserSessionConvertible<User>) async {
        guard let ticket = begin(.login) else { return }
        do {
            let session = try await request().userSession
            if let stored = try await save(session, ticket) {
                update { $0.adopt(stored, session.user, ticket) }
                if session.user == nil { await fetchUser(of: stored, ticket) }
            }
            finish(ticket)
        } catch {
            finish(ticket, with: AuthError(error, isLogin: true))
        }
    }

    /// Saves a login's session, if the login is still the newest action.
    ///
    /// - Returns: nil if it isn't.
    private func save(_ session: UserSession<User>, _ ticket: AuthStateMachine<User>.Ticket) async throws -> SessionIdentifier? {
        let storage = storage
        return try await whileStoring { [self] in
            guard machine.isCurrent(ticket) else {
                // A service that saves what it receives may have saved this session.
                try await storage.clear(session.tokens)
                return nil
            }
            let stored =
                if let user = session.user { try await storage.save(session.tokens, user: user) } else {
                    try await storage.saveTokens(session.tokens)
                }
            lastSaved = (stored, ticket.number)
            return stored
        }
    }

    private func whileStoring<Success: Sendable>(
        _ body: @MainActor @escaping () async throws -> Success
    ) async throws -> Success {
        try await storing.withLock { @Sendable in try await body() }
    }

    /// Logs out: at once for the UI, then at the server, then in the storage. The session is removed even if the server can't be
    /// reached.
    public func logout() async {
        guard let ticket = begin(.logout) else { return }
        let (storage, actions) = (storage, actions)
        // In its own task, so that a cancelled caller doesn't leave the session stored.
        let task = Task { () async throws -> Void in
            try await whileStoring { [self] in
                guard let session = try await storage.storedSession() else { return }
                // A later login may have saved its session first.
                if let lastSaved = self.lastSaved, lastSaved.session == session, lastSaved.number > ticket.number { return }
                try? await actions.logout()
                try await storage.clear(session)
            }
        }
        switch await task.result {
        case .success: finish(ticket)
        case .failure(let error): finish(ticket, with: AuthError(error, isLogin: false))
        }
    }

    // MARK: Checks

    /// Shows the stored session, for example when the app starts, and fetches its user again. Without a network the stored user
    /// stays, and ``error`` is ``AuthError/offline(_:)``. Does nothing while a login or a logout is in progress.
    public func restoreSession() async {
        await check(.restore)
    }

    /// Whether the access token has expired or is about to. False if its expiry isn't known, or nothing is stored.
    public func tokensNeedRefresh() async -> Bool {
        (try? await storage.isDueForRenewal()) ?? false
    }

    /// Renews the tokens if ``tokensNeedRefresh()``, by fetching the user; otherwise sends nothing. Call it when the app returns
    /// to the foreground. Does nothing while a login or a logout is in progress.
    ///
    /// - Returns: whether the tokens were renewed.
    @discardableResult
    public func refreshIfNeeded() async -> Bool {
        guard await tokensNeedRefresh() else { return false }
        let old = await storage.loadTokens()
        await check(.refresh)
        let new = await storage.loadTokens()
        return new != nil && new != old
    }

    private func check(_ kind: AuthStateMachine<User>.Kind) async {
        guard let ticket = begin(kind) else { return }
        do {
            if let stored = try await storage.load() {
                update { $0.adopt(stored.session, stored.user, ticket) }
                if machine.session == stored.session { await fetchUser(of: stored.session, ticket) }
            } else {
                update { $0.adoptNone(ticket) }
            }
            finish(ticket)
        } catch {
            finish(ticket, with: AuthError(error, isLogin: false))
        }
    }

    private func fetchUser(of session: SessionIdentifier, _ ticket: AuthStateMachine<User>.Ticket) async {
        do {
            let user = try await actions.fetchUser()
            guard machine.mayAdopt(ticket) else { return }
            // Fails if another session is stored by now: the user may be that session's.
            try await storage.saveUser(user, of: session)
            update { $0.adopt(session, user, ticket) }
        } catch is NoSessionError {
            return
        } catch {
            // A background check doesn't report an error that may go away by itself.
            let error = AuthError(error, isLogin: false)
            if case .offline = error, ticket.kind == .refresh { return }
            update { $0.fail(error, of: session, ticket) }
        }
    }

    // MARK: Changes

    private func begin(_ kind: AuthStateMachine<User>.Kind) -> AuthStateMachine<User>.Ticket? {
        var ticket: AuthStateMachine<User>.Ticket?
        update { ticket = $0.begin(kind) }
        return ticket
    }

    private func finish(_ ticket: AuthStateMachine<User>.Ticket, with error: AuthError? = nil) {
        update { $0.finish(ticket, with: error) }
    }

    /// Applies the ends of sessions reported since the last update.
    func takeEnds() {
        update { _ in }
    }

    /// Shows a session that another process, or another part of the app, has begun. During a login or a logout, waits until that
    /// has finished.
    private func showBegun() async {
        // A read may find the session of this state's own login before it is adopted. That session must not be taken for
        // another's.
        guard machine.session == nil, let stored = try? await storage.storedSession(), machine.session != stored else { return }
        mayBeUnshown = machine.isActive
        if !machine.isActive { await restoreSession() }
    }

    private func update(_ body: (inout AuthStateMachine<User>) -> Void) {
        let old = machine
        // Applied first, since the session that `body` adopts may have ended.
        for end in inbox.take() {
            if end.reason == .replaced, end.session == machine.session { mayBeUnshown = true }
            machine.end(end)
        }
        body(&machine)
        if mayBeUnshown, !machine.isActive {
            mayBeUnshown = false
            Task { await showBegun() }
        }
        guard machine.differs(from: old) else { return }
        status = machine.status
        observers.yield(status)
    }
}

/// All that an ``AuthState`` shows, at one instant.
public struct AuthStatus<User: Sendable>: Sendable {
    /// Whether a session is stored, as of the last read.
    public internal(set) var isLoggedIn = false
    /// The user; nil if not logged in, or if the user hasn't been fetched yet.
    public internal(set) var user: User?
    /// Whether a login, a registration, a logout or a restoration is in progress.
    public internal(set) var isLoading = false
    /// The error of the last action; nil if it succeeded.
    public internal(set) var error: AuthError?
}

/// Passes each status to any number of readers. A new reader gets the current status at once.
final class StatusObservers<User: Sendable>: Sendable {
    private struct State {
        var next = 0
        var continuations: [Int: AsyncStream<AuthStatus<User>>.Continuation] = [:]
    }

    private let state = Locked(State())

    deinit {
        for continuation in state.withLock({ $0.continuations }).values { continuation.finish() }
    }

    func add(_ status: AuthStatus<User>) -> AsyncStream<AuthStatus<User>> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: AuthStatus<User>.self, bufferingPolicy: .bufferingNewest(1))
        continuation.yield(status)
        let id = state.withLock { state in
            state.next += 1
            state.continuations[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { _ = $0.continuations.removeValue(forKey: id) } }
        return stream
    }

    func yield(_ status: AuthStatus<User>) {
        for continuation in state.withLock({ $0.continuations }).values { continuation.yield(status) }
    }
}

/// Ends of sessions that a state has not applied yet. They are reported on any thread, before the requests that caused them fail.
final class SessionEndInbox: Sendable {
    private let ends = Locked<[SessionEnd]>([])

    func put(_ end: SessionEnd) {
        ends.withLock { $0.append(end) }
    }

    func take() -> [SessionEnd] {
        ends.withLock { ends in
            defer { ends = [] }
            return ends
        }
    }
}
