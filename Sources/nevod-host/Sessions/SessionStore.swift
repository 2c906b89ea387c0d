import Glibc
import NevodHost
import NevodHostPostgreSQL
import NevodHostSecretService
import NevodSupport

/// The store of sessions between commands: a file or a PostgreSQL server.
struct SessionStore: Sendable {
    /// The path of the file, or the server's address.
    let path: String
    private var isServer: Bool { Self.isServer(path) }
    /// Whether the path follows from the environment, and was not given.
    private let isDefault: Bool
    private let sources: [RecordingKeySource]
    /// The passphrase, if `--store-key` demands one.
    private let passphrase: PassphrasePrompt?
    private let console: Console

    private static let variable = "NEVOD_HOST_STORE_KEY"

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
            let file: [any StoreKeySource] = Self.keyPath.map { [KeyFile(path: $0)] } ?? []
            let known: [any StoreKeySource] =
                [SecretServiceKey()] + file
                + [option.passphrase(StoreKeyOption.storeAnswer).source, EnvironmentKey(variable: Self.variable)]
            sources = known.map(RecordingKeySource.init)
        }
    }

    /// Whether there may be a store. A server creates what is missing. A path that this user may not look at may hold one: opening it
    /// reports the error.
    var exists: Bool { isServer || access(path, F_OK) == 0 || errno == EACCES }

    /// Whether a command with these arguments would find a store; also if its path can't be determined.
    static func mayExist(_ arguments: Arguments) -> Bool {
        guard let path = try? path(arguments, givenPath(arguments)) else { return true }
        return isServer(path) || access(path, F_OK) == 0 || errno == EACCES
    }

    /// The layout version of the file; nil for a server.
    var layout: Int? { isServer ? nil : SQLiteStorage.layout }

    /// Opens or creates the store, and reports a created one, which includes a file that an interrupted command left without a key.
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
        if !exists, isDefault { try Self.checkOwner([path] + (Self.keyPath.map { [$0] } ?? [])) }
        // Asks first, so that a cancelled question leaves no store, which the next command would seal with another key.
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

    private static func givenPath(_ arguments: Arguments) -> String? {
        guard let path = arguments.value(.store) ?? environment("NEVOD_HOST_STORE"), !path.isEmpty else { return nil }
        return path
    }

    private static func path(_ arguments: Arguments, _ given: String?) throws -> String {
        if let path = given {
            guard isServer(path) else { return try absolutePath(path) }
            try checkServer(path, arguments.has(.store) ? "--store" : "NEVOD_HOST_STORE")
            return path
        }
        guard let folder = folder("XDG_DATA_HOME", ".local/share") else {
            let without = [.request, .sign].contains(arguments.command) ? ", or --no-store" : ""
            throw UsageError("there is no home directory to keep sessions in; give --store PATH\(without)")
        }
        return "\(folder)/nevod-host/sessions.db"
    }

    private static func isServer(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// Refuses an address with a password: the address is shown, and other processes can read it.
    ///
    /// - Parameter source: the flag or variable of the address.
    private static func checkServer(_ text: String, _ source: String) throws {
        let authority = text.split(separator: "/", omittingEmptySubsequences: false)[2]
        let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(separator: "@")
        guard !user.utf8.contains(UInt8(ascii: ":")), !text.contains("password=") else {
            throw UsageError(
                "\(source) contains a password, which would be shown with the address, and which other processes can read in "
                    + "a command line; put it into a password file (PGPASSFILE) or a service file")
        }
    }

    /// Refuses to create folders in the home of another user, such as with `sudo`, which may keep `HOME`: they would belong to the user
    /// of this process, and the home's owner could no longer use them.
    private static func checkOwner(_ paths: [String]) throws {
        for path in paths {
            var folder = Substring(path)
            var info = stat()
            repeat {
                folder = folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)
            } while !folder.isEmpty && stat(String(folder), &info) != 0
            guard !folder.isEmpty, info.st_uid != 0, info.st_uid != geteuid() else { continue }
            throw StorageError(
                .permissions, String(folder),
                problem: "belongs to another user (uid \(info.st_uid)), and the store would be made in it for uid \(geteuid())",
                remedy: "run as that user, set HOME to your own home (sudo -H), or give --store PATH")
        }
    }

    /// The key file's path, in another folder than the database, so that a copy of that folder doesn't contain the key.
    private static var keyPath: String? { folder("XDG_CONFIG_HOME", ".config").map { "\($0)/nevod-host/store.key" } }

    /// Ignores a relative folder (XDG Base Directory Specification).
    private static func folder(_ variable: String, _ below: String) -> String? {
        if let folder = environment(variable), folder.hasPrefix("/") { return folder }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/\(below)" : nil }
    }
}

/// Resolves a path against the working directory.
func absolutePath(_ path: String) throws -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let folder = getcwd(nil, 0) else { throw InputError(".", errno) }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
}
