public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// Logs a user in, with a second factor if the server asks for one, and stores the session.
///
/// ```swift
/// let login = MFAAuthClient(
///     client: client, failure: LoginError.self,
///     login: { (credentials: Credentials) in Endpoint<LoginSuccess>.post("/auth/login").body(credentials) },
///     verify: { .post("/auth/mfa/verify").body(MFARequest(sessionId: $0, code: $1)) })
///
/// switch try await login.loginWithMFA(credentials: credentials) {
/// case .success: showHome()
/// case .mfaRequired(let challenge, let sessionId): askForCode(challenge, sessionId)
/// }
/// ```
///
/// If another login or a logout supersedes a login while it waits, the login stores nothing. Codes and identifiers appear in no
/// error and no log.
public final class MFAAuthClient<
    Credentials: Sendable, Success: Decodable & AuthTokensConvertible, Failure: MFAChallengeConvertible
>:
    Sendable
{
    private typealias Flight = SingleFlight<Result<AuthTokens, any Error>>

    private struct Attempt: Hashable {
        let sessionId: String
        let code: String
    }

    private let client: JWTAuthClient
    private let login: @Sendable (Credentials) -> Endpoint<Success>
    private let verify: @Sendable (String, String) -> Endpoint<Success>
    private let logins = Locked(MFALogins())
    private let attempts = Locked<[Attempt: Flight]>([:])

    /// - Parameters:
    ///   - client: sends the requests, without a token, and stores the session.
    ///   - failure: the type of the service's error.
    ///   - login: the endpoint of a login.
    ///   - verify: the endpoint that takes a second factor, given the server's identifier of the login and the code.
    public init(
        client: JWTAuthClient, failure: Failure.Type, login: @escaping @Sendable (Credentials) -> Endpoint<Success>,
        verify: @escaping @Sendable (_ sessionId: String, _ code: String) -> Endpoint<Success>
    ) {
        self.client = client
        self.login = login
        self.verify = verify
    }

    /// Logs in. Supersedes all earlier logins of this storage.
    ///
    /// - Throws: a ``FailureResponse`` of `Failure` that has nothing to do with a second factor, such as for a wrong password;
    ///   ``MFAError/superseded``; `NetworkError`; the errors of the storage and of the client's validator.
    public func loginWithMFA(credentials: Credentials) async throws -> AuthResult {
        let ticket = try await client.tokens.beginLogin()
        let response: Response<Success, Failure> = try await client.send(login(credentials).auth(.none))
        switch response {
        case .success(let success):
            return .success(try await save(success.data.authTokens, ticket))
        case .failure(let failure):
            guard case .required(let challenge, let sessionId) = failure.error.mfaStatus else { throw failure }
            logins.withLock { $0.add(sessionId, ticket) }
            return .mfaRequired(challenge: challenge, sessionId: sessionId)
        }
    }

    /// Completes a login with a second factor. Concurrent calls with the same code share one request, which is never cancelled.
    ///
    /// - Parameters:
    ///   - sessionId: the server's identifier of the login, from ``AuthResult/mfaRequired(challenge:sessionId:)``.
    ///   - code: the code that the user has entered.
    /// - Throws: ``MFAError``; a ``FailureResponse`` of `Failure` for any other refusal; `NetworkError`; the errors of the
    ///   storage and of the client's validator. After ``MFAError/wrongCode(attemptsLeft:)`` the challenge can still be met.
    @discardableResult
    public func completeMFAChallenge(sessionId: String, code: String) async throws -> AuthTokens {
        let attempt = Attempt(sessionId: sessionId, code: code)
        let flight = attempts.withLock { attempts in
            let flight = attempts[attempt] ?? Flight()
            attempts[attempt] = flight
            return flight
        }
        return try await flight.join(until: nil) { [self] in
            defer { attempts.withLock { _ = $0.removeValue(forKey: attempt) } }
            do { return .success(try await complete(attempt)) } catch { return .failure(error) }
        }.get()
    }

    /// The number of callers that wait for a code to be verified.
    var waitingCount: Int { attempts.withLock { $0.values.reduce(0) { $0 + $1.waitingCount } } }

    private func complete(_ attempt: Attempt) async throws -> AuthTokens {
        let known = logins.withLock { $0.ticket(of: attempt.sessionId) }
        let ticket = if let known { known } else { try await client.tokens.beginLogin() }
        // Spares the server a session that would not be stored.
        guard client.tokens.values.isCurrent(ticket) else { throw MFAError.superseded }
        let response: Response<Success, Failure> = try await client.send(
            verify(attempt.sessionId, attempt.code).auth(.none))
        switch response {
        case .success(let success):
            let tokens = try await save(success.data.authTokens, ticket)
            // Removed only now, so that a superseded login stays superseded, however often its code is entered.
            logins.withLock { $0.remove(attempt.sessionId) }
            return tokens
        case .failure(let failure):
            switch failure.error.mfaStatus {
            case .wrongCode(let left):
                logins.withLock { $0.add(attempt.sessionId, ticket) }
                throw MFAError.wrongCode(attemptsLeft: left)
            case .expired:
                logins.withLock { $0.remove(attempt.sessionId) }
                throw MFAError.expired
            case .required(let challenge, let sessionId):
                logins.withLock { logins in
                    logins.remove(attempt.sessionId)
                    logins.add(sessionId, ticket)
                }
                throw MFAError.furtherChallenge(challenge: challenge, sessionId: sessionId)
            case nil: throw failure
            }
        }
    }

    private func save(_ tokens: AuthTokens, _ ticket: LoginTicket) async throws -> AuthTokens {
        try await client.verification?.verifyNew(tokens.accessToken)
        guard try await client.tokens.save(tokens, of: ticket) else { throw MFAError.superseded }
        return tokens
    }
}

/// The outcome of a login with the right password.
public enum AuthResult: Sendable, Hashable {
    /// The user is logged in, and the session is stored.
    case success(AuthTokens)
    /// The server asks for a second factor: see ``MFAAuthClient/completeMFAChallenge(sessionId:code:)``. Nothing is stored.
    case mfaRequired(challenge: MFAChallenge, sessionId: String)
}

extension AuthResult: Redacted {
    /// The case, without tokens and without the identifier of the login.
    public var description: String {
        switch self {
        case .success: "success"
        case .mfaRequired(let challenge, _): "mfaRequired(\(challenge))"
        }
    }
}

/// Why a login with the right password has not begun a session.
public enum MFAError: Error, Sendable, Hashable {
    /// The code was wrong. The challenge can still be met with another code.
    ///
    /// - `attemptsLeft`: how many more codes the server takes; nil if it doesn't say.
    case wrongCode(attemptsLeft: Int?)
    /// The challenge has expired, or too many codes were wrong. The user must log in again.
    case expired
    /// The server asks for one more factor, which ``MFAAuthClient/completeMFAChallenge(sessionId:code:)`` takes as well.
    case furtherChallenge(challenge: MFAChallenge, sessionId: String)
    /// Since this login began, another login has begun or has stored its session, or the user has logged out. This login changes
    /// nothing.
    case superseded
}

extension MFAError: Redacted {
    public var description: String {
        switch self {
        case .wrongCode(let left):
            "the code of the second factor is wrong\(left.map { "; attempts left: \($0)" } ?? ""); ask for it again"
        case .expired: "the challenge of the second factor has expired; log in again"
        case .furtherChallenge(let challenge, _): "the server asks for one more factor (\(challenge))"
        case .superseded: "another login or a logout has superseded this login; its session was not stored"
        }
    }
}

/// The logins that wait for a second factor, by the server's identifiers. Their number is bounded, since a user may never enter
/// the code.
struct MFALogins {
    private static let limit = 16

    private var waiting: [(sessionId: String, ticket: LoginTicket)] = []

    /// The login's ticket; nil for a login that began elsewhere, such as before a restart of the app.
    func ticket(of sessionId: String) -> LoginTicket? {
        waiting.first { $0.sessionId == sessionId }?.ticket
    }

    mutating func add(_ sessionId: String, _ ticket: LoginTicket) {
        remove(sessionId)
        if waiting.count == Self.limit { waiting.removeFirst() }
        waiting.append((sessionId, ticket))
    }

    mutating func remove(_ sessionId: String) {
        waiting.removeAll { $0.sessionId == sessionId }
    }
}
