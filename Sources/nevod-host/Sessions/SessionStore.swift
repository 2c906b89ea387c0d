import Glibc
import NevodHost
import NevodHostPostgreSQL
import NevodSupport

/// The store of sessions between commands: a file or a PostgreSQL server.
struct SessionStore: Sendable {
    /// The path of the file, or the server's address.
    let path: String
    private var isServer: Bool { Self.isServer(path) }
    /// Whether the path is the default, and was not given.
    private let isDefault: Bool
    private let sources: [RecordingKeySource]
    /// The passphrase, if `--store-key` demands one.
    private let passphrase: PassphrasePrompt?
    private let console: Console

    init(_ arguments: Arguments, _ givenAnswers: CommandLineAnswers, _ console: Console) throws {
        let given = Self.givenPath(arguments)
        isDefault = given == nil
        path = try Self.path(arguments, given)
        self.console = console
        let option = StoreKeyOption(console: console, givenAnswers: givenAnswers)
        if let text = arguments.value(.storeKey) {
            passphrase = text == "passphrase" ? option.passphrase(StoreKeyOption.storeAnswer) : nil
            let source = try passphrase?.source ?? option.source(text, "--store-key", answer: StoreKeyOption.storeAnswer)
            sources = [RecordingKeySource(source)]
        } else {
            passphrase = nil
            sources = option.standardSources.map(RecordingKeySource.init)
        }
    }

    /// Whether a store may exist. Always true for a server. A path that this user may not inspect may hold a store: opening it
    /// reports the error.
    var exists: Bool { isServer || access(path, F_OK) == 0 || errno == EACCES }

    /// Whether a command with these arguments may find a store; true if its path can't be determined.
    static func mayExist(_ arguments: Arguments) -> Bool {
        guard let path = try? path(arguments, givenPath(arguments)) else { return true }
        return isServer(path) || access(path, F_OK) == 0 || errno == EACCES
    }

    /// The layout version of the file; nil for a server.
    var layout: Int? { isServer ? nil : SQLiteStorage.layout }

    /// Opens or creates the store, and reports a created store. A file that an interrupted command left without a key counts as
    /// created.
    private func connect() async throws -> any SealedStorage {
        if !isServer { try StorePath(path).check() }
        let storage: any SealedStorage
        do {
            storage =
                isServer
                ? try await PostgreSQLStorage(connection: path, keys: sources)
                : try await SQLiteStorage(path: path, keys: sources)
        } catch let error as StorageError where !isServer {
            let place = StorePath(path)
            throw sources.contains(where: \.hasLostKey) ? place.startingAnew(after: error) : place.explaining(error)
        }
        if sources.contains(where: \.hasCreatedStore) {
            console.inform("sessions are kept in \(path), sealed by \(seal(of: storage))")
        }
        return storage
    }

    func openOrCreate() async throws -> any SealedStorage {
        if !exists, isDefault { try Self.checkOwner([path] + (StoreKeyOption.keyPath.map { [$0] } ?? [])) }
        // Asks first: a cancelled question must not leave a store that the next command would seal with another key.
        if !exists { _ = try await passphrase?.secret(isNew: true) }
        return try await connect()
    }

    /// Returns nil if there is no store yet.
    func openIfExists() async throws -> (any SealedStorage)? {
        exists ? try await connect() : nil
    }

    /// Opens the store for a command that needs an existing one.
    func open() async throws -> any SealedStorage {
        guard let storage = try await openIfExists() else {
            throw StorageError(
                .unavailable, path, problem: "there is no store of sessions", remedy: "nevod-host login creates one")
        }
        return storage
    }

    /// Describes the key of an open store.
    func seal(of storage: any SealedStorage) -> String {
        sources.first { $0.kind == storage.keyKind }?.description ?? storage.keyKind
    }
}
