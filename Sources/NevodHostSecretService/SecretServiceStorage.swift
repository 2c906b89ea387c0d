public import NevodStorage
public import NevodSupport

/// Each value in the desktop's keyring (GNOME Keyring, KWallet, KeePassXC: whatever answers as `org.freedesktop.secrets` in the user's
/// session), by libsecret. (``SecretServiceKey``, in contrast, keeps one key there, of a store in a file.)
///
/// ```swift
/// let storage = try SecretServiceStorage(application: "example")
/// ```
///
/// libsecret is loaded at the first call. Nothing is ever asked of the user: a keyring that is locked, a session without a keyring and
/// a machine without libsecret are a `StorageError` of code `unavailable`, which says which of them it is; and so is a
/// service that hasn't answered for ten seconds.
///
/// An item has the attributes `application` and `key`, which the keyring doesn't hide, and holds `base64:` and the value in base64.
/// The service knows no condition and no lock: ``replace(_:with:for:)`` is one step for all who write through this type with the
/// same lock file, and not for other programs that change the keyring.
public final class SecretServiceStorage: SecretKeepingStorage, RenewalLockingStorage {
    /// Bytes.
    public typealias Value = [UInt8]

    /// The longest value, in bytes: services keep all of a keyring in memory.
    public static let maximumSize = 1 << 16

    private let application: String
    private let lock: WriteLock
    private let renewals: RenewalLocks
    private let client: ServiceClient
    private let limit: Duration

    /// - Parameters:
    ///   - application: tells its items from those of others. Not hidden.
    ///   - lockFile: of all processes that share the values; made with mode 0600, and a second beside it. By default in
    ///     `/run/user/UID` if that is there, else in the home that the system's list of users names: no variable of the
    ///     environment counts, so that a desktop's processes and a job of cron find the same.
    /// - Throws: `StorageError` if there is no place for the lock file.
    public convenience init(application: String, lockFile: String? = nil) throws(StorageError) {
        try self.init(application: application, lockFile: lockFile, limit: ServiceClient.limit)
    }

    package init(application: String, lockFile: String?, limit: Duration) throws(StorageError) {
        let path = if let lockFile { lockFile } else { try WriteLock.defaultPath() }
        self.application = application
        lock = WriteLock(path: path)
        renewals = RenewalLocks(path: "\(path)-renewals")
        client = .shared
        self.limit = limit
    }

    /// Its path.
    package var lockFile: String { lock.path }

    /// Whether a value could be stored here and now: there is a keyring, and it is not locked. Answers within three seconds.
    public static func isAvailable() async -> Bool {
        let isOpen = try? await ServiceClient.shared.run(within: .seconds(3)) { (session, call) throws(SecretServiceError) in
            try session.isOpen(call)
        }
        return isOpen ?? false
    }

    /// Nil: nothing is stored under that key.
    ///
    /// - Throws: `StorageError`; `damaged` for an item that this type has not written.
    public func secret(for key: StorageKey) async throws -> Secret? {
        let attributes = try attributes(of: key)
        return try await client.run(within: limit) { (session, call) throws(SecretServiceError) in
            try Self.secret(for: key, attributes, session, call)
        }
    }

    /// - Throws: `StorageError`; `tooLarge` for more than ``maximumSize`` bytes.
    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        try await write(secret, for: key) { _ in true }
    }

    /// - Throws: as ``secret(for:)`` and ``set(_:for:)``.
    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await write(secret, for: key) { read throws(SecretServiceError) in try read() == expected }
    }

    /// By a lock on the file beside the lock file whose name ends with `-renewals`.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await renewals.withLock(for: key, body)
    }

    private func attributes(of key: StorageKey) throws(StorageError) -> ServiceAttributes {
        try ServiceAttributes(schema: "dev.nevod.Value", [("application", application), ("key", key.rawValue)])
    }

    private static func secret(
        for key: StorageKey, _ attributes: ServiceAttributes, _ session: ServiceSession, _ call: ServiceObject
    ) throws(SecretServiceError) -> Secret? {
        guard let text = try session.secret(of: attributes, call) else { return nil }
        guard let secret = SecretText.secret(of: text) else {
            throw .final(
                StorageError(
                    .damaged, "\(key)", problem: "what the keyring holds was not written by this store",
                    remedy: "remove that item, or choose another application name"))
        }
        return secret
    }

    @discardableResult
    private func write(
        _ secret: Secret?, for key: StorageKey,
        if condition: @escaping @Sendable (() throws(SecretServiceError) -> Secret?) throws(SecretServiceError) -> Bool
    ) async throws(StorageError) -> Bool {
        if let secret, secret.count > Self.maximumSize {
            throw StorageError(
                .tooLarge, "\(key)", problem: "the value has \(secret.count) bytes, more than \(Self.maximumSize)",
                remedy: "keep it elsewhere, and its place here")
        }
        let attributes = try attributes(of: key)
        let (text, label) = (secret.map(SecretText.text), "\(application): \(key)")
        return try await client.run(within: limit, lock: lock) { (session, call) throws(SecretServiceError) in
            let read = { () throws(SecretServiceError) in try Self.secret(for: key, attributes, session, call) }
            guard try condition(read) else { return false }
            if let text {
                try session.set(text, attributes, label: label, call)
            } else {
                try session.remove(attributes, call)
            }
            return true
        }
    }
}
