import Glibc
import NevodHost
import NevodHostSecretService
import NevodSupport

/// Where sessions are kept from one command to the next.
struct SessionStore: Sendable {
    let path: String
    private let sources: [any StoreKeySource]
    private let console: Console

    private static let variable = "NEVOD_HOST_STORE_KEY"

    init(_ arguments: Arguments, _ given: GivenAnswers, _ console: Console) throws {
        path = try Self.path(arguments)
        self.console = console
        let option = StoreKeyOption(console: console, given: given)
        if let text = arguments.value(.storeKey) {
            sources = [try option.source(text, "--store-key", answer: StoreKeyOption.ofTheStore)]
        } else {
            let file: [any StoreKeySource] = Self.keyPath.map { [KeyFile(path: $0)] } ?? []
            sources =
                [SecretServiceKey()] + file
                + [option.passphrase(StoreKeyOption.ofTheStore), EnvironmentKey(variable: Self.variable)]
        }
    }

    var isThere: Bool { access(path, F_OK) == 0 }

    /// Opens it, or makes it, and says so.
    func openOrMake() async throws -> SQLiteStorage {
        let isNew = !isThere
        let storage = try await SQLiteStorage(path: path, keys: sources)
        if isNew { console.inform("sessions are kept in \(path), sealed by \(seal(of: storage))") }
        return storage
    }

    /// Nil: there is none yet.
    func openIfThere() async throws -> SQLiteStorage? {
        isThere ? try await SQLiteStorage(path: path, keys: sources) : nil
    }

    /// For commands that are pointless without one.
    func open() async throws -> SQLiteStorage {
        guard let storage = try await openIfThere() else {
            throw StorageError(
                .unavailable, path, problem: "there is no store of sessions", remedy: "nevod-host login makes one")
        }
        return storage
    }

    /// For people.
    func seal(of storage: SQLiteStorage) -> String {
        sources.first { $0.kind == storage.keyKind }?.description ?? storage.keyKind
    }

    private static func path(_ arguments: Arguments) throws -> String {
        if let path = arguments.value(.store) ?? environment("NEVOD_HOST_STORE"), !path.isEmpty { return try absolutePath(path) }
        guard let folder = folder("XDG_DATA_HOME", ".local/share") else {
            throw UsageError("there is no home to keep sessions in; give --store PATH, or --no-store")
        }
        return "\(folder)/nevod-host/sessions.db"
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
