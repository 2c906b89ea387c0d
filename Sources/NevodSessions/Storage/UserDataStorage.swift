internal import Foundation
public import NevodHost
internal import NevodStorage
public import NevodSupport

/// A sealed store in the user's data folder, opened on first use. The default storage of ``SessionStorage`` on systems without a
/// keychain.
///
/// The store is an `SQLiteStorage` at `$XDG_DATA_HOME/APPLICATION/sessions.db`, by default below `~/.local/share`; its key is a
/// `KeyFile` at `$XDG_CONFIG_HOME/APPLICATION/store.key`, by default below `~/.config`, so that a copy of one folder doesn't
/// contain both.
public final class UserDataStorage: SecretKeepingStorage, RenewalLockingStorage, ObservableStorage {
    /// The store of this program, named after it.
    public static let shared = UserDataStorage(application: ProcessInfo.processInfo.processName)

    private let paths: Result<(store: String, key: String), StorageError>
    private let opening = AsyncLock()
    private let opened = Opened()
    private let observers: StorageObservers

    private final class Opened: Sendable {
        let store = Locked<SQLiteStorage?>(nil)
    }

    /// - Parameter application: the name of the folders, without a slash.
    public convenience init(application: String) {
        self.init(application: application, environment: ProcessInfo.processInfo.environment)
    }

    init(application: String, environment: [String: String]) {
        observers = StorageObservers { [opened] notify in
            // Doesn't open the store: a program that only observes creates no folder.
            opened.store.withLock { $0 }.map { store in StorageForwarding([{ store.changes() }], to: notify) }
        }
        paths = Result { () throws(StorageError) in
            guard !application.isEmpty, !application.hasPrefix("."), !application.utf8.contains(where: { $0 == 0 || $0 == 0x2F })
            else { throw StorageError(.other, application, problem: "is not a valid folder name", remedy: "give another name") }
            func folder(_ variable: String, _ below: String) throws(StorageError) -> String {
                // Ignores a relative folder (XDG Base Directory Specification).
                if let folder = environment[variable], folder.hasPrefix("/") { return folder }
                if let home = environment["HOME"], home.hasPrefix("/") { return "\(home)/\(below)" }
                throw StorageError(
                    .unavailable, variable, problem: "is not set, and neither is HOME, so there is no folder for the user's data",
                    remedy: "set one of them to an absolute path, or give SessionStorage a storage")
            }
            return (
                "\(try folder("XDG_DATA_HOME", ".local/share"))/\(application)/sessions.db",
                "\(try folder("XDG_CONFIG_HOME", ".config"))/\(application)/store.key"
            )
        }
    }

    public func secret(for key: StorageKey) async throws -> Secret? {
        try await store().secret(for: key)
    }

    public func set(_ secret: Secret?, for key: StorageKey) async throws {
        try await store().set(secret, for: key)
    }

    public func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool {
        try await store().replace(expected, with: secret, for: key)
    }

    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await store().withRenewalLock(for: key, body)
    }

    /// The keys of the values that change from now on, whichever process changes them.
    public func changes() async -> StorageChanges {
        let changes = observers.changes()
        await observers.begun()
        return changes
    }

    /// Opens the store once; the next call retries after a failure.
    private func store() async throws -> SQLiteStorage {
        if let store = opened.store.withLock({ $0 }) { return store }
        return try await opening.withLock {
            if let store = opened.store.withLock({ $0 }) { return store }
            let paths = try paths.get()
            let store = try await SQLiteStorage(path: paths.store, keys: [KeyFile(path: paths.key)])
            opened.store.withLock { $0 = store }
            // Starts observing before the first value is read, so that each later change is reported.
            observers.restart()
            await observers.begun()
            return store
        }
    }
}

/// The platform's usual place for sessions.
var defaultSessionStorage: some KeyValueStorage {
    #if canImport(Security)
        return KeychainStorage()
    #else
        return UserDataStorage.shared
    #endif
}
