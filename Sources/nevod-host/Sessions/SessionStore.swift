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

    /// Whether a store may exist. A server creates what is missing. A path that this user may not inspect may hold a store:
    /// opening it reports the error.
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

    /// Refuses an address with a password: messages show the address, and other processes can read it.
    ///
    /// - Parameter source: the flag or variable that holds the address.
    private static func checkServer(_ text: String, _ source: String) throws {
        let authority = text.split(separator: "/", omittingEmptySubsequences: false)[2]
        let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(separator: "@")
        guard !user.utf8.contains(UInt8(ascii: ":")), !text.contains("password=") else {
            throw UsageError(
                "\(source) contains a password, which messages would show, and which other processes can read in a command line; "
                    + "put it into a password file (PGPASSFILE) or a service file")
        }
    }

    /// Refuses to create folders in another user's home, such as with `sudo`, which may keep `HOME`. The folders would belong to
    /// this process's user, and the home's owner could no longer use them.
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

    /// Returns the folder that the variable names, or else the one below the home. Ignores a relative folder (XDG Base Directory
    /// Specification).
    static func folder(_ variable: String, _ below: String) -> String? {
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

/// The path of a store's file, as given.
struct StorePath {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Refuses anything but a regular file.
    func check() throws(StorageError) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG else { return }
        let isFolder = info.st_mode & S_IFMT == S_IFDIR
        throw StorageError(
            .unavailable, path, problem: isFolder ? "is a folder" : "is not a regular file",
            remedy: isFolder ? "name a file in it: \(path)/sessions.db" : "give the path of a file")
    }

    /// Replaces an error about a file's mode if the file isn't a store: the advised chmod would open another program's file to
    /// this one. Reads the file only after a failure, since closing it would drop the locks of an open store.
    func explaining(_ error: StorageError) -> StorageError {
        guard error.code == .permissions, error.subject == path else { return error }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return error }
        defer { close(file) }
        let magic = Array("SQLite format 3\0".utf8)
        var head = [UInt8](repeating: 0, count: magic.count)
        guard pread(file, &head, head.count, 0) > 0, head != magic else { return error }
        return StorageError(
            .permissions, path, problem: "is not a store of sessions", remedy: "give another path, where there is no file yet")
    }

    /// Adds to the error about a lost key how to start without the sessions.
    func startingAnew(after error: StorageError) -> StorageError {
        let files = ["", "-wal", "-shm", "-changes"].map { ShellWord.quoted(path + $0) }.joined(separator: " ")
        let anew = "to start anew, without the sessions: rm -f \(files), and then: nevod-host login"
        return StorageError(
            error.code, error.subject, problem: error.problem, remedy: (error.remedy.map { "\($0); or, " } ?? "") + anew,
            systemCode: error.systemCode)
    }
}
