internal import CPQ
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// One connection to a server. One thread uses it at a time, and is blocked for a limited time.
final class PostgreSQLConnection {
    /// The server cancels a statement after 30 seconds. If it stays silent for longer, the connection is dead.
    static let timeout: Duration = .seconds(35)

    let name: String
    private let pq: LibPQ
    private let handle: OpaquePointer
    /// Prepared statements by their text: parsing costs more than executing.
    private var prepared: [String: String] = [:]
    private var isAbandoned = false

    /// - Parameter name: The server's name, for errors.
    init(_ pq: LibPQ, _ handle: OpaquePointer, name: String) {
        self.pq = pq
        self.handle = handle
        self.name = name
        // The default processor prints to standard error.
        _ = pq.call.PQsetNoticeProcessor(handle, { _, _ in }, nil)
        // A server that doesn't read must not block the thread.
        _ = pq.call.PQsetnonblocking(handle, 1)
    }

    deinit {
        pq.call.PQfinish(handle)
    }

    var isBroken: Bool { isAbandoned || pq.call.PQstatus(handle) != CONNECTION_OK }
    /// The number of the server's process, as the server announced it when the connection was made.
    var announcedBackend: Int64 { Int64(pq.call.PQbackendPID(handle)) }
    var socket: Int32 { pq.call.PQsocket(handle) }

    /// Reads pending input. Afterwards, ``isBroken`` is true if the server has closed the connection.
    func takeInput() {
        // A server that closes the connection sends the reason first: one read gets the reason, the next one the end of file.
        for _ in 0..<2 {
            if pq.call.PQconsumeInput(handle) == 0 { isAbandoned = true }
        }
    }

    /// Runs a prepared statement.
    ///
    /// - Parameter values: The values of `$1` and so on.
    @discardableResult
    func run(_ text: String, _ values: [PostgreSQLValue] = []) throws(PostgreSQLError) -> PostgreSQLResult {
        let statement = try prepare(text)
        let isSent = PostgreSQLParameters(values).withPointers { pointers, lengths, formats in
            pq.call.PQsendQueryPrepared(handle, statement, Int32(values.count), pointers, lengths, formats, 1)
        }
        return try result(isSent: isSent)
    }

    /// Runs statements without parameters, and returns the result of the last one.
    @discardableResult
    func execute(_ text: String) throws(PostgreSQLError) -> PostgreSQLResult {
        try result(isSent: pq.call.PQsendQuery(handle, text))
    }

    /// Runs the body in a transaction, which is rolled back if the body throws.
    ///
    /// - Parameter kind: Options of `BEGIN`.
    func transaction<Result>(
        _ kind: String = "", _ body: () throws(PostgreSQLError) -> Result
    ) throws(PostgreSQLError) -> Result {
        try execute("BEGIN \(kind)")
        let result: Result
        do throws(PostgreSQLError) {
            result = try body()
            try execute("COMMIT")
        } catch {
            if !isBroken { _ = try? execute("ROLLBACK") }
            throw error
        }
        return result
    }

    /// The payloads of the notifications that have arrived since the last call.
    func notifications() -> [String] {
        var payloads: [String] = []
        while let notification = pq.call.PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            pq.call.PQfreemem(notification)
        }
        return payloads
    }

    private func prepare(_ text: String) throws(PostgreSQLError) -> String {
        if let known = prepared[text] { return known }
        let statement = "nevod_\(prepared.count)"
        try result(isSent: pq.call.PQsendPrepare(handle, statement, text, 0, nil))
        prepared[text] = statement
        return statement
    }

    // MARK: Results

    @discardableResult
    private func result(isSent: Int32) throws(PostgreSQLError) -> PostgreSQLResult {
        guard isSent == 1 else { throw lost() }
        let deadline = ContinuousClock.now + Self.timeout
        while true {
            let left = pq.call.PQflush(handle)
            if left == 0 { break }
            guard left == 1, try wait(for: POLLIN | POLLOUT, until: deadline) else { throw lost() }
        }
        var (result, failure): (PostgreSQLResult?, PostgreSQLError?)
        while true {
            while pq.call.PQisBusy(handle) != 0 {
                guard try wait(for: POLLIN, until: deadline) else { throw lost(failure) }
            }
            guard let next = pq.call.PQgetResult(handle).map({ PostgreSQLResult(pq, $0) }) else { break }
            result = next
            failure = failure ?? self.failure(next)
        }
        if var failure {
            failure.isConnectionLost = isBroken
            throw failure
        }
        guard let result else { throw lost() }
        return result
    }

    /// - Returns: false if the connection is lost.
    private func wait(for events: Int32, until deadline: ContinuousClock.Instant) throws(PostgreSQLError) -> Bool {
        let rest = Int32(max(.zero, deadline - .now) / .milliseconds(1))
        var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
        let count = poll(&descriptor, 1, rest)
        if count < 0 { return errno == EINTR }
        guard count > 0 else {
            cancel()
            isAbandoned = true
            throw PostgreSQLError(
                error: StorageError(.unavailable, name, problem: "has not responded for \(Self.timeout)"), isConnectionLost: true)
        }
        return descriptor.revents & Int16(POLLOUT) != 0 && descriptor.revents & Int16(POLLIN) == 0
            || pq.call.PQconsumeInput(handle) == 1
    }

    /// Asks the server to stop a statement whose result is no longer needed. The request may not reach the server.
    private func cancel() {
        guard let cancellation = pq.call.PQgetCancel(handle) else { return }
        defer { pq.call.PQfreeCancel(cancellation) }
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { message in
            _ = pq.call.PQcancel(cancellation, message.baseAddress, Int32(message.count))
        }
    }

    private func failure(_ result: PostgreSQLResult) -> PostgreSQLError? {
        guard result.status != PGRES_COMMAND_OK, result.status != PGRES_TUPLES_OK else { return nil }
        guard let state = result.field("C") else {
            isAbandoned = true
            return lost()
        }
        return PostgreSQLError(
            error: StorageError(name, sqlState: state, result.field("M") ?? "the statement failed"), state: state)
    }

    /// - Parameter last: The last error that the server sent before the connection was lost.
    private func lost(_ last: PostgreSQLError? = nil) -> PostgreSQLError {
        isAbandoned = true
        if let last { return PostgreSQLError(error: last.error, state: last.state, isConnectionLost: true) }
        let message = pq.message(of: handle)
        return PostgreSQLError(
            error: StorageError(
                .unavailable, name, problem: message.isEmpty ? "the connection is lost" : "the connection is lost: \(message)"),
            isConnectionLost: true)
    }
}

/// libpq, loaded on first use. A program that could use PostgreSQL, but doesn't, runs without the library.
final class LibPQ: Sendable {
    /// The functions, looked up once.
    let call: nevod_pq

    init(_ name: String = "libpq.so.5") throws(StorageError) {
        call = try SystemLibrary(name, package: "libpq5", version: "12").load(nevod_pq(), nevod_pq_find)
    }

    /// The connection's last error, in one line.
    func message(of connection: OpaquePointer) -> String {
        guard let message = call.PQerrorMessage(connection) else { return "" }
        return String(cString: message).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
