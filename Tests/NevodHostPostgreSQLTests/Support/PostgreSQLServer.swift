internal import Glibc
internal import NevodHost
internal import NevodSupport
internal import NevodTestSupport

@testable internal import NevodHostPostgreSQL

/// A server for one test. Its methods block, so its tests have the trait `blocking`.
final class PostgreSQLServer: Sendable {
    let folder: String
    private let pid: pid_t
    private let pipe: Int32
    private let replies: Locked<LineReader>

    /// A shared server for tests that don't stop it. Terminated with the test process.
    static func shared() throws -> PostgreSQLServer { try started.get() }

    private static let started = Result { try PostgreSQLServer() }

    /// - Parameter primary: the server for which the new one is a standby.
    init(standbyOf primary: PostgreSQLServer? = nil) throws {
        let script = "\(repository)/Tests/NevodHostPostgreSQLTests/Support/postgresql_server.py"
        (pid, pipe) = try Command.spawn(["python3", "-B", script] + (primary.map { [$0.folder] } ?? []))
        let reader = LineReader(pipe)
        guard let folder = reader.next() else { throw Command.Failure(description: "the server didn't start") }
        self.folder = folder
        replies = Locked(reader)
    }

    deinit {
        kill(pid, SIGTERM)
        Command.wait(for: pid)
        close(pipe)
    }

    var connection: String { connection(to: folder) }

    func connection(to folder: String) -> String { "host=\(folder) user=postgres dbname=postgres" }

    /// Stops the server as if it had crashed.
    func restart() { command(SIGUSR1) }

    /// Shuts it down cleanly and starts it again.
    func restartInOrder() { command(SIGHUP) }

    func promote() { command(SIGALRM) }

    func stopOrStart() { command(SIGUSR2) }

    private func command(_ signal: Int32) {
        kill(pid, signal)
        _ = replies.withLock { $0.next() }
    }

    /// Each row in a line, its columns separated by `|`.
    @discardableResult
    func sql(_ text: String) throws -> [String] {
        try Command.output([
            "psql", "-X", "-h", folder, "-U", "postgres", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtc", text,
        ])
        .split(separator: "\n").map(String.init)
    }

    func schema(_ test: String = #function) -> String { "t\(StorageKey(rawValue: test).digest)" }

    func open(_ schema: String, keys: [any StoreKeySource], connection: String? = nil) async throws -> PostgreSQLStorage {
        try await PostgreSQLStorage(connection: connection ?? self.connection, schema: schema, keys: keys)
    }
}

/// The helper postgresql-child: a separate process that uses a server's store.
enum PostgreSQLChild {
    static func spawn(_ arguments: [String]) throws -> (pid: pid_t, pipe: Int32) {
        try Command.spawn([helperProgram("postgresql-child")] + arguments)
    }
}

/// A value shared by the tasks of a test.
final class Shared<Value: Sendable>: Sendable {
    private let state: Locked<Value>

    init(_ value: Value) { state = Locked(value) }

    var value: Value { state.withLock { $0 } }

    func withLock<Result: Sendable>(_ body: (inout Value) -> Result) -> Result { state.withLock { body(&$0) } }
}
