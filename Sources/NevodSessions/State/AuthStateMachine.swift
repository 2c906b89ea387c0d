/// Decides which outcome of concurrent actions counts: a state machine without I/O.
///
/// - A login, a registration or a logout supersedes all actions that began before it; their outcomes are dropped.
/// - A check (a restoration, a refresh) doesn't begin while a login, a registration or a logout is in progress.
/// - A session that ended, for whatever reason, never comes back, however late an outcome with it arrives.
struct AuthStateMachine<User: Sendable> {
    enum Kind {
        case login
        case logout
        case restore
        case refresh
    }

    /// One action in progress.
    struct Ticket {
        let kind: Kind
        let number: Int
    }

    private(set) var session: SessionIdentifier?
    private var user: User? {
        didSet { userNumber += 1 }
    }
    private var userNumber = 0
    private var error: AuthError?
    private var number = 0
    /// The newest login or logout; ``isActive`` says whether it is still in progress.
    private var newest = 0
    private var newestLogout = 0
    private(set) var isActive = false
    private var restorations: Set<Int> = []
    /// The newest check whose outcome was applied.
    private var newestCheck = 0
    private var ended: [SessionIdentifier: SessionEnd.Reason] = [:]

    var status: AuthStatus<User> {
        AuthStatus(isLoggedIn: session != nil, user: user, isLoading: isActive || !restorations.isEmpty, error: error)
    }

    /// Whether the two statuses may differ.
    func differs(from other: AuthStateMachine) -> Bool {
        session != other.session || userNumber != other.userNumber || error != other.error
            || status.isLoading != other.status.isLoading
    }

    /// - Returns: nil for a check while a login or a logout is in progress, because that determines the session.
    mutating func begin(_ kind: Kind) -> Ticket? {
        switch kind {
        case .login, .logout:
            number += 1
            newest = number
            isActive = true
            if kind == .logout { newestLogout = number }
            error = nil
            if kind == .logout, let session { end(SessionEnd(session: session, reason: .cleared)) }
        case .restore, .refresh:
            guard !isActive else { return nil }
            number += 1
            guard kind == .restore else { break }
            restorations.insert(number)
            error = nil
        }
        return Ticket(kind: kind, number: number)
    }

    /// Whether the outcome of an action still counts.
    func isCurrent(_ ticket: Ticket) -> Bool {
        switch ticket.kind {
        case .login, .logout: isActive && ticket.number == newest
        case .restore, .refresh: ticket.number > newest && ticket.number >= newestCheck
        }
    }

    /// Whether the session that an action has found or saved counts. A login's session counts even if a later login has begun:
    /// the later one replaces the session or fails.
    func mayAdopt(_ ticket: Ticket) -> Bool {
        ticket.kind == .login ? ticket.number > newestLogout : isCurrent(ticket)
    }

    /// Ends an action.
    mutating func finish(_ ticket: Ticket, with error: AuthError? = nil) {
        restorations.remove(ticket.number)
        guard isCurrent(ticket) else { return }
        if let error { self.error = error }
        if ticket.number == newest { isActive = false }
    }

    /// Adopts a stored session.
    ///
    /// - Parameter user: nil if unknown; the user of the same session is then kept.
    mutating func adopt(_ session: SessionIdentifier, _ user: User?, _ ticket: Ticket) {
        guard mayAdopt(ticket) else { return }
        noteCheck(ticket)
        if let reason = ended[session] {
            if isCurrent(ticket) { error = reason == .refused ? .sessionExpired : nil }
            return
        }
        if user != nil || self.session != session { self.user = user }
        self.session = session
    }

    /// Takes note that no session is stored.
    mutating func adoptNone(_ ticket: Ticket) {
        guard isCurrent(ticket) else { return }
        noteCheck(ticket)
        session = nil
        user = nil
    }

    /// Takes the error of a session's check, unless the session has ended.
    mutating func fail(_ error: AuthError?, of session: SessionIdentifier?, _ ticket: Ticket) {
        guard isCurrent(ticket), session == nil || session == self.session else { return }
        self.error = error
    }

    mutating func end(_ end: SessionEnd) {
        ended[end.session] = ended[end.session] ?? end.reason
        guard session == end.session else { return }
        session = nil
        user = nil
        if !isActive { error = end.reason == .refused ? .sessionExpired : nil }
    }

    private mutating func noteCheck(_ ticket: Ticket) {
        if ticket.number > newest { newestCheck = max(newestCheck, ticket.number) }
    }
}
