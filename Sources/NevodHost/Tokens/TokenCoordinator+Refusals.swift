internal import NevodSupport

/// A renewal that the server has refused, for the requests that it concerns.
struct PastRefusal: Sendable {
    /// Refused, or failed where there was no token to clear.
    let outcome: RenewalOutcome
    /// When this process was refused, or a request of its own learned of it.
    let time = ContinuousClock.now
    /// The version that another process could not renew; nil if this one was refused.
    var version: TokenVersion?

    /// Whether it counts for a request: one that began before this process was refused, or that carried the token which another one could
    /// not renew, whenever that was. A request that begins later may try again.
    func counts(for carried: TokenVersion, since began: ContinuousClock.Instant) -> Bool {
        version.map { $0 == carried } ?? (began <= time)
    }
}

// A refusal is one attempt for all that wanted it: an account may be locked after a few.
extension TokenCoordinator {
    /// Whether refusals are remembered. A scheme's next attempt would be a login with the same password; a strategy of a program, which
    /// finds no token, asks its user. (Only the tokens of schemes are stored secretly.)
    var remembersRefusals: Bool { Token.self is any SecretlyStored.Type }

    /// The refusal that counts for a request, if no other token is stored by now.
    ///
    /// - Parameters:
    ///   - carried: the version that the request carried, or would carry.
    ///   - began: when the request began.
    func refusal(for carried: TokenVersion, since began: ContinuousClock.Instant) async -> RenewalOutcome? {
        guard let past = pastRefusal.withLock(\.self), past.counts(for: carried, since: began),
            let stored = try? await read(), stored.token == nil
        else { return nil }
        return past.outcome
    }

    /// Returns the outcome of a renewal that another process was faster with.
    ///
    /// - Parameter version: the version that was to be renewed.
    func outcomeElsewhere(of version: TokenVersion) -> RenewalOutcome {
        guard let past = pastRefusal.withLock(\.self), past.version == version else { return .replaced }
        return past.outcome
    }

    /// Remembers an outcome if it is a refusal.
    func remember(_ outcome: RenewalOutcome) {
        guard remembersRefusals else { return }
        switch outcome {
        case .refused: break
        case .failed(let error as PluginError) where error.status == .denied: break
        default: return
        }
        pastRefusal.withLock { $0 = PastRefusal(outcome: outcome) }
    }

    private var refusalKey: StorageKey { StorageKey(value: "refused/\(key.rawValue)") }
    /// The key of the note about a login without a token before.
    private var refusedLoginKey: StorageKey { StorageKey(value: "refused-login/\(key.rawValue)") }

    /// Notes for other processes that the server has refused to renew a token. Called before the token is cleared, so that a process
    /// which finds no token finds the note. Without the note, the others try themselves.
    func record(_ refusal: any Error, of token: Secret?) async {
        guard let token else { return }
        await record(refusal, of: token, at: refusalKey)
    }

    /// Notes that a login was refused where there was no token.
    func recordLogin(_ refusal: any Error) async {
        await record(refusal, of: Secret(""), at: refusedLoginKey)
    }

    private func record(_ refusal: any Error, of token: Secret, at key: StorageKey) async {
        guard remembersRefusals, sharesRenewals else { return }
        let reason = (refusal as? RefreshRejectedError)?.reason ?? "\(refusal)"
        guard let record = RefusalRecord(token, reason: reason) else { return }
        try? await storage.write(key, record.stored)
    }

    /// Looks for a note about a token that another process has cleared.
    func findRefusal(of token: Secret, _ version: TokenVersion) async {
        guard remembersRefusals, sharesRenewals, let stored = try? await storage.read(refusalKey),
            let record = RefusalRecord(stored: stored), record.names(token)
        else { return }
        let outcome = RenewalOutcome.refused(RefreshRejectedError(record.reason))
        pastRefusal.withLock { $0 = PastRefusal(outcome: outcome, version: version) }
    }

    /// The note about a refused login, as it is stored. It changes with each refusal, so that a process which waits for the renewal lock
    /// without a token sees that another one was refused meanwhile.
    struct LoginNote: Equatable {
        fileprivate let bytes: Secret?
    }

    /// Reads the note; nil if it can't be read.
    func loginNote() async -> LoginNote? {
        guard remembersRefusals, sharesRenewals else { return nil }
        do { return LoginNote(bytes: try await storage.read(refusedLoginKey)) } catch { return nil }
    }

    /// The refused login that another process has noted since; nil if there is none.
    func refusedLogin(notedSince note: LoginNote?) async -> RenewalOutcome? {
        guard let note, let new = await loginNote(), new != note, let record = new.bytes.flatMap(RefusalRecord.init) else {
            return nil
        }
        return .refused(RefreshRejectedError(record.reason))
    }

    /// Removes the notes once there is a token again.
    func forgetRecords() async {
        guard remembersRefusals, sharesRenewals else { return }
        for key in [refusalKey, refusedLoginKey] where (try? await storage.read(key)) != nil {
            try? await storage.write(key, nil)
        }
    }

    private var sharesRenewals: Bool { storage.withRenewalLock != nil }
}
