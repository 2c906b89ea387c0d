internal import Foundation
internal import NevodStorage
internal import NevodSupport

/// What each save, renewal or removal may replace. A login that was superseded, a user of another session, and tokens renewed for
/// a session that has ended are not saved.
extension SessionValues {
    /// Begins a login, which supersedes all earlier ones.
    func beginLogin() async throws -> LoginTicket {
        try await logins.withLock {
            LoginTicket(turn: nextTurn(), session: try await readForChange().record?.identifier)
        }
    }

    /// Whether no later login or logout of this process has superseded this login.
    func isCurrent(_ ticket: LoginTicket) -> Bool {
        turn.withLock { $0 == ticket.turn }
    }

    /// Saves a login's session, unless a later login or logout has superseded the login, here or in another process. A renewal of
    /// the session that was stored when the login began doesn't supersede the login.
    ///
    /// - Returns: whether it was saved.
    func save(_ tokens: Data, of ticket: LoginTicket) async throws -> Bool {
        try await logins.withLock {
            guard isCurrent(ticket) else { return false }
            return try await change { old in
                guard old?.identifier == ticket.session else { return .none }
                return .to(SessionRecord(.random(), tokens, user: nil))
            }
        }
    }

    /// Saves a new session, unless these tokens are stored already: their session then gets the user.
    func save(_ tokens: Data, user: Data?) async throws -> SessionIdentifier {
        _ = nextTurn()
        var identifier = SessionIdentifier.random()
        try await change { old in
            if let old, old.tokens == tokens { identifier = old.identifier }
            return .to(SessionRecord(identifier, tokens, user: user ?? (old?.identifier == identifier ? old?.user : nil)))
        }
        return identifier
    }

    /// Saves the user of a session.
    ///
    /// - Parameter session: nil for the stored one, whichever it is.
    /// - Returns: false, without saving, if the session isn't the stored one or none is stored.
    func save(user: Data, of session: SessionIdentifier?) async throws -> Bool {
        try await change { old in
            guard var record = old, session.map({ $0 == record.identifier }) ?? true else { return .none }
            record.user = user
            return .to(record)
        }
    }

    /// Saves renewed tokens in their session. If the server has refused the renewal, removes the session.
    ///
    /// - Parameter tokens: nil if the renewal was refused.
    /// - Returns: false, without saving, if the stored tokens are no longer the ones that were to be renewed.
    func renew(_ expected: Data?, with tokens: Data?) async throws -> Bool {
        try await change(endingBecause: .refused) { old in
            guard old?.tokens == expected else { return .none }
            guard let tokens else { return .to(nil) }
            guard var record = old else { return .to(SessionRecord(.random(), tokens, user: nil)) }
            record.tokens = tokens
            return .to(record)
        }
    }

    /// Removes the stored session, whichever it is.
    func clear() async throws {
        _ = nextTurn()
        // Waits for a login that is saving its session: otherwise that session would be stored after the logout. Runs in its own
        // task, so that a cancelled caller still logs out.
        _ = try await Task { try await logins.withLock { try await change { _ in .to(nil) } } }.value
    }

    /// Removes a session if it is the stored one.
    func clear(if condition: (SessionRecord) -> Bool) async throws -> Bool {
        try await change { old in
            guard let old, condition(old) else { return .none }
            return .to(nil)
        }
    }

    private func nextTurn() -> Int {
        turn.withLock { turn in
            turn += 1
            return turn
        }
    }
}

/// A login in progress, with the state at its beginning. It ensures that the login never replaces a later login's session, and
/// never undoes a logout.
struct LoginTicket: Sendable {
    /// How many logins and logouts this process had begun by then.
    let turn: Int
    /// The session that was stored then; nil if there was none.
    let session: SessionIdentifier?
}
