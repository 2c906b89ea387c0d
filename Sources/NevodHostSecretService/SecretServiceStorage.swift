public import NevodStorage
public import NevodSupport

/// Stores each value in the desktop's keyring (GNOME Keyring, KWallet, KeePassXC or any other service that provides
/// `org.freedesktop.secrets` in the user's session), through libsecret. (``SecretServiceKey``, in contrast, keeps only a store's
/// key there, and the store is a file.)
///
/// ```swift
/// let storage = try SecretServiceStorage(application: "example")
/// ```
///
/// libsecret is loaded at the first call. The user is never prompted. A locked keyring, a session without a keyring, a machine
/// without libsecret, and a service that hasn't responded for ten seconds each cause a `StorageError` of code `unavailable` that
/// says so.
///
/// An item has the attributes `application` and `key`, which the keyring doesn't hide, and holds `base64:` and the value in
/// base64. The service has neither conditional writes nor locks. So ``replace(_:with:for:)`` is atomic among writers that use
/// this type with the same lock file, but not against other programs that change the keyring.
public final class SecretServiceStorage: SecretKeepingStorage, RenewalLockingStorage {
    /// The type of the values.
    public typealias Value = [UInt8]

    /// The longest value, in bytes. The limit is low because services keep a whole keyring in memory.
    public static let maximumSize = 1 << 16

    private let application: String
    private let lock: WriteLock
    private let renewals: RenewalLocks
    private let client: ServiceClient
    private let limit: Duration

    /// - Parameters:
    ///   - application: Distinguishes this application's items from others. Not hidden.
    ///   - lockFile: The lock file of all processes that share the values, created with mode 0600; a second one is created beside
    ///     it. By default it is in `/run/user/UID` if that exists, otherwise in the home folder of the system's user database.
    ///     The environment is ignored, so that desktop processes and cron jobs use the same file.
    /// - Throws: `StorageError` if the lock file has no default place.
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

    /// Whether a value could be stored now: there is a keyring, and it isn't locked. Returns within three seconds.
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
        try StorageError.checkSize(secret?.count ?? 0, upTo: Self.maximumSize, of: "\(key)")
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

/// Encodes bytes for a keyring as text that is never empty: `base64:` and base64 (RFC 4648 §4). Several services reject NUL
/// bytes, and some reject anything except UTF-8.
enum SecretText {
    private static let prefix = Array("base64:".utf8)

    static func text(of secret: Secret) -> Secret {
        Secret(count: prefix.count + (secret.count + 2) / 3 * 4) { text in
            _ = text.initializeMemory(as: UInt8.self, repeating: UInt8(ascii: "="))
            text.copyBytes(from: prefix)
            guard let start = text.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
            secret.withUnsafeBytes { Base64.encode(Span(_unsafeBytes: $0), .standard, to: start + prefix.count) }
        }
    }

    /// - Returns: nil if the text has another form.
    static func secret(of text: Secret) -> Secret? {
        text.withUnsafeBytes { text in
            guard text.starts(with: prefix) else { return nil }
            return Base64.secret(UnsafeRawBufferPointer(rebasing: text[prefix.count...]), .strict)
        }
    }
}
