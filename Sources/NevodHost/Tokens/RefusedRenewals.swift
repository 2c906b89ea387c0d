internal import COpenSSL
internal import NevodOAuth
internal import NevodSupport

/// The server said that a token can't be renewed, for example with `invalid_grant` (RFC 6749 §5.2).
///
/// The host itself recognizes the responses of RFC 6749. A refresh strategy throws this error if its server refuses in another
/// form. The stored token is then cleared. No other failure of a renewal clears it.
public struct RefreshRejectedError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The server's words, or yours. Part of ``description``, so it must not contain a secret.
    public let reason: String

    /// - Parameter reason: for logs; must not contain a secret.
    public init(_ reason: String) {
        self.reason = reason
    }

    public var description: String { "the server refused to renew the token: \(reason)" }
}

/// The former name of ``RefreshRejectedError``.
@available(*, deprecated, renamed: "RefreshRejectedError")
public typealias TokenRefused = RefreshRejectedError

/// A renewal that the server refused, kept for the requests that it applies to.
struct PastRefusal: Sendable {
    /// Either `refused`, or `failed` if there was no token to clear.
    let outcome: RenewalOutcome
    /// When the server refused this process, or this process learned that it refused another one.
    let time = ContinuousClock.now
    /// The version that another process could not renew; nil if this process was refused.
    var version: TokenVersion?

    /// Whether the refusal applies to a request. If this process was refused, it applies to requests that began before; later
    /// requests may try again. If another process was refused, it applies to requests that carried the refused token, whenever
    /// they began.
    func counts(for carried: TokenVersion, since began: ContinuousClock.Instant) -> Bool {
        version.map { $0 == carried } ?? (began <= time)
    }
}

// All requests that wanted a refused renewal share that one attempt: a server may lock an account after a few attempts.
extension TokenCoordinator {
    /// Whether refusals are remembered. True for schemes: a scheme's next attempt would be a login with the same password. False
    /// for a program's own strategy, which asks its user if it finds no token. (Only schemes' tokens are stored secretly.)
    var remembersRefusals: Bool { Token.self is any SecretlyStored.Type }

    /// The refusal that applies to a request, if no token is stored by now.
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

    /// Returns the outcome of a renewal that another process did first.
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
    /// The key of the note about a login that was refused while no token was stored.
    private var refusedLoginKey: StorageKey { StorageKey(value: "refused-login/\(key.rawValue)") }

    /// Notes for other processes that the server has refused to renew a token. Called before the token is cleared: a process that
    /// finds no token must find the note. Without a note, other processes try themselves.
    func record(_ refusal: any Error, of token: Secret?) async {
        guard let token else { return }
        await record(refusal, of: token, at: refusalKey)
    }

    /// Notes that a login was refused while no token was stored.
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

    /// The note about a refused login, as it is stored. It changes with each refusal. So a process that has no token and waits
    /// for the renewal lock sees that another process was refused meanwhile.
    struct LoginNote: Equatable {
        fileprivate let bytes: Secret?
    }

    /// Reads the note; nil if it can't be read.
    func loginNote() async -> LoginNote? {
        guard remembersRefusals, sharesRenewals else { return nil }
        do { return LoginNote(bytes: try await storage.read(refusedLoginKey)) } catch { return nil }
    }

    /// The refusal of a login that another process has noted since `note` was read; nil if there is none.
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

/// A note that the server refused to renew a token, in a storage that several processes share. A process that waited for that
/// renewal finds the note, and doesn't try itself: a server may lock an account after a few attempts. A process that starts later
/// never has that token, so the note doesn't concern it.
///
/// The note identifies the token by an HMAC with a fresh key, so that it reveals nothing about the token.
struct RefusalRecord {
    private static let form: UInt8 = 1
    private static let keyCount = 16
    private static let codeCount = 32
    private static let mostReason = 4096

    let reason: String
    private let key: [UInt8]
    private let code: [UInt8]

    /// - Parameter token: the stored bytes of the token that was refused.
    init?(_ token: Secret, reason: String) {
        var key = [UInt8](repeating: 0, count: Self.keyCount)
        guard RAND_bytes(&key, Int32(clamping: key.count)) == 1, let code = Self.code(of: token, key) else { return nil }
        self.key = key
        self.code = code
        self.reason = String(decoding: reason.utf8.prefix(Self.mostReason), as: UTF8.self)
    }

    init?(stored: Secret) {
        let bytes = stored.withUnsafeBytes { Array($0) }
        let head = 1 + Self.keyCount + Self.codeCount
        guard bytes.count >= head, bytes[0] == Self.form else { return nil }
        key = Array(bytes[1...Self.keyCount])
        code = Array(bytes[(1 + Self.keyCount)..<head])
        reason = String(decoding: bytes[head...].prefix(Self.mostReason), as: UTF8.self)
    }

    var stored: Secret { Secret(copying: [Self.form] + key + code + Array(reason.utf8)) }

    /// Whether the note is about the token with these stored bytes.
    func names(_ token: Secret) -> Bool { Self.code(of: token, key) == code }

    private static func code(of token: Secret, _ key: [UInt8]) -> [UInt8]? {
        token.withUnsafeBytes { token in
            var code = [UInt8](repeating: 0, count: codeCount)
            var count = 0
            let done = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, key, key.count,
                token.assumingMemoryBound(to: UInt8.self).baseAddress, token.count, &code, code.count, &count)
            return done != nil && count == codeCount ? code : nil
        }
    }
}
