public import NevodStorage
public import NevodSupport

/// Stores each value in the desktop's keyring (GNOME Keyring, KWallet, KeePassXC or any other service that provides
/// `org.freedesktop.secrets` in the user's session), by libsecret. (``SecretServiceKey``, in contrast, keeps only the key of a store
/// in a file there.)
///
/// ```swift
/// let storage = try SecretServiceStorage(application: "example")
/// ```
///
/// libsecret is loaded at the first call. The user is never prompted: a locked keyring, a session without a keyring and a machine
/// without libsecret each cause a `StorageError` of code `unavailable` that says so; and so does a service that hasn't responded for
/// ten seconds.
///
/// An item has the attributes `application` and `key`, which the keyring doesn't hide, and holds `base64:` and the value in base64.
/// The service has neither conditional writes nor locks: ``replace(_:with:for:)`` is atomic among writers that use this type with the
/// same lock file, and not against other programs that change the keyring.
public final class SecretServiceStorage: SecretKeepingStorage, RenewalLockingStorage {
    /// The type of the values.
    public typealias Value = [UInt8]

    /// The longest value, in bytes: services keep all of a keyring in memory.
    public static let maximumSize = 1 << 16

    private let application: String
    private let lock: WriteLock
    private let renewals: RenewalLocks
    private let client: ServiceClient
    private let limit: Duration

    /// - Parameters:
    ///   - application: Distinguishes its items from those of other applications. Not hidden.
    ///   - lockFile: The lock file of all processes that share the values; created with mode 0600, with a second one beside it. By
    ///     default in `/run/user/UID` if that exists, else in the home folder of the system's user database: the environment is
    ///     ignored, so that desktop processes and cron jobs use the same file.
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

    /// The lock file's path.
    package var lockFile: String { lock.path }

    /// Whether a value could be stored now: there is a keyring, and it is not locked. Returns within three seconds.
    public static func isAvailable() async -> Bool {
        let isOpen = try? await ServiceClient.shared.run(within: .seconds(3)) { (session, call) throws(SecretServiceError) in
            try session.isOpen(call)
        }
        return isOpen ?? false
    }

    /// Returns nil if nothing is stored under the key.
    ///
    /// - Throws: `StorageError`; `damaged` for an item that this type did not write.
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

    /// - Throws: like ``secret(for:)`` and ``set(_:for:)``.
    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await write(secret, for: key) { read throws(SecretServiceError) in try read() == expected }
    }

    /// Locks a file with the lock file's path and the suffix `-renewals`.
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
                    .damaged, "\(key)", problem: "the keyring's item was not written by this store",
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
                remedy: "store it elsewhere, and keep a reference here")
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
