import Glibc
import NevodHost
import NevodHostPostgreSQL
import NevodHostSecretService
import NevodSupport

/// Where sessions are kept from one command to the next: a file, or a PostgreSQL server.
struct SessionStore: Sendable {
    /// Or the server's address.
    let path: String
    private var isServer: Bool { Self.isServer(path) }
    private let sources: [NotedKeySource]
    /// If nothing else may seal it.
    private let passphrase: AskedPassphrase?
    private let console: Console

    private static let variable = "NEVOD_HOST_STORE_KEY"

    init(_ arguments: Arguments, _ given: GivenAnswers, _ console: Console) throws {
        path = try Self.path(arguments)
        self.console = console
        let option = StoreKeyOption(console: console, given: given)
        if let text = arguments.value(.storeKey) {
            passphrase = text == "passphrase" ? option.passphrase(StoreKeyOption.ofTheStore) : nil
            let source = try passphrase?.source ?? option.source(text, "--store-key", answer: StoreKeyOption.ofTheStore)
            sources = [NotedKeySource(source)]
        } else {
            passphrase = nil
            let file: [any StoreKeySource] = Self.keyPath.map { [KeyFile(path: $0)] } ?? []
            let known: [any StoreKeySource] =
                [SecretServiceKey()] + file
                + [option.passphrase(StoreKeyOption.ofTheStore).source, EnvironmentKey(variable: Self.variable)]
            sources = known.map(NotedKeySource.init)
        }
    }

    /// A server makes what is missing when it is asked. Where this user may not look there may be one: opening it says so.
    var isThere: Bool { isServer || access(path, F_OK) == 0 || errno == EACCES }

    /// Of the file; a server has its own.
    var layout: Int? { isServer ? nil : SQLiteStorage.layout }

    /// Opens it, or makes it, and says so: also what an interrupted command has left without a key, and what a server had not.
    private func connect() async throws -> any SealedStorage {
        let storage: any SealedStorage =
            isServer
            ? try await PostgreSQLStorage(connection: path, keys: sources) : try await SQLiteStorage(path: path, keys: sources)
        if sources.contains(where: \.hasMadeStore) {
            console.inform("sessions are kept in \(path), sealed by \(seal(of: storage))")
        }
        return storage
    }

    func openOrMake() async throws -> any SealedStorage {
        // Whoever thinks better of it while being asked leaves no store, which the next command would seal with another key.
        if !isThere { _ = try await passphrase?.secret(isNew: true) }
        return try await connect()
    }

    /// Nil: there is none yet.
    func openIfThere() async throws -> (any SealedStorage)? {
        isThere ? try await connect() : nil
    }

    /// For commands that are pointless without one.
    func open() async throws -> any SealedStorage {
        guard let storage = try await openIfThere() else {
            throw StorageError(
                .unavailable, path, problem: "there is no store of sessions", remedy: "nevod-host login makes one")
        }
        return storage
    }

    /// For people.
    func seal(of storage: any SealedStorage) -> String {
        sources.first { $0.kind == storage.keyKind }?.description ?? storage.keyKind
    }

    private static func path(_ arguments: Arguments) throws -> String {
        if let path = arguments.value(.store) ?? environment("NEVOD_HOST_STORE"), !path.isEmpty {
            guard isServer(path) else { return try absolutePath(path) }
            try checkServer(path, arguments.has(.store) ? "--store" : "NEVOD_HOST_STORE")
            return path
        }
        guard let folder = folder("XDG_DATA_HOME", ".local/share") else {
            let without = [.request, .sign].contains(arguments.command) ? ", or --no-store" : ""
            throw UsageError("there is no home to keep sessions in; give --store PATH\(without)")
        }
        return "\(folder)/nevod-host/sessions.db"
    }

    private static func isServer(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// It is shown, and others can read it: no place for a password.
    ///
    /// - Parameter source: where it stands.
    private static func checkServer(_ text: String, _ source: String) throws {
        let authority = text.split(separator: "/", omittingEmptySubsequences: false)[2]
        let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(separator: "@")
        guard !user.contains(":"), !text.contains("password=") else {
            throw UsageError(
                "\(source) has a password in it, which would be shown with the address, and which other processes can read in "
                    + "a command line; put it into a password file (PGPASSFILE) or a service file")
        }
    }

    /// Not beside the database: who copies that folder hasn't got the key.
    private static var keyPath: String? { folder("XDG_CONFIG_HOME", ".config").map { "\($0)/nevod-host/store.key" } }

    /// A relative folder doesn't count (XDG Base Directory Specification).
    private static func folder(_ variable: String, _ below: String) -> String? {
        if let folder = environment(variable), folder.hasPrefix("/") { return folder }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/\(below)" : nil }
    }
}

/// From where the process is.
func absolutePath(_ path: String) throws -> String {
    guard !path.hasPrefix("/") else { return path }
    guard let folder = getcwd(nil, 0) else { throw InputError(".", errno) }
    defer { free(folder) }
    return "\(String(cString: folder))/\(path)"
}
