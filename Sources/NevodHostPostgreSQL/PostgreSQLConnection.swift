internal import CPQ
internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// One connection to a server. Used by one thread at a time, which it blocks, for a bounded time.
final class PostgreSQLConnection {
    /// The server ends a statement after 30 seconds; who hears nothing by then talks to nobody.
    static let patience: Duration = .seconds(35)

    let name: String
    private let pq: PQ
    private let handle: OpaquePointer
    /// By their text: parsing costs more than running.
    private var prepared: [String: String] = [:]
    private var isGivenUp = false

    /// - Parameter name: of the server, for errors.
    init(_ pq: PQ, _ handle: OpaquePointer, name: String) {
        self.pq = pq
        self.handle = handle
        self.name = name
        // Its default prints to standard error.
        _ = pq.call.PQsetNoticeProcessor(handle, { _, _ in }, nil)
        // A server that doesn't read must not hold us.
        _ = pq.call.PQsetnonblocking(handle, 1)
    }

    deinit {
        pq.call.PQfinish(handle)
    }

    var isBroken: Bool { isGivenUp || pq.call.PQstatus(handle) != CONNECTION_OK }
    var socket: Int32 { pq.call.PQsocket(handle) }

    /// Takes what has come. After it, ``isBroken`` knows of an end that came meanwhile.
    func takeInput() {
        // A server that ends the connection says why: that is one thing to take, and the end behind it the next.
        for _ in 0..<2 {
            if pq.call.PQconsumeInput(handle) == 0 { isGivenUp = true }
        }
    }

    /// - Parameter values: of `$1` and so on.
    @discardableResult
    func run(_ text: String, _ values: [PostgreSQLValue] = []) throws(PostgreSQLError) -> PostgreSQLResult {
        let statement = try prepare(text)
        let isSent = PostgreSQLParameters(values).withPointers { pointers, lengths, formats in
            pq.call.PQsendQueryPrepared(handle, statement, Int32(values.count), pointers, lengths, formats, 1)
        }
        return try answer(isSent: isSent)
    }

    /// Runs statements that have no values, and of which the last one's rows count.
    @discardableResult
    func execute(_ text: String) throws(PostgreSQLError) -> PostgreSQLResult {
        try answer(isSent: pq.call.PQsendQuery(handle, text))
    }

    /// All of it, or nothing.
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

    /// What `LISTEN` has brought since it was last asked.
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
        try answer(isSent: pq.call.PQsendPrepare(handle, statement, text, 0, nil))
        prepared[text] = statement
        return statement
    }

    // MARK: Answers

    @discardableResult
    private func answer(isSent: Int32) throws(PostgreSQLError) -> PostgreSQLResult {
        guard isSent == 1 else { throw lost() }
        let end = ContinuousClock.now + Self.patience
        while true {
            let left = pq.call.PQflush(handle)
            if left == 0 { break }
            guard left == 1, try wait(for: POLLIN | POLLOUT, until: end) else { throw lost() }
        }
        var (result, failure): (PostgreSQLResult?, PostgreSQLError?)
        while true {
            while pq.call.PQisBusy(handle) != 0 {
                guard try wait(for: POLLIN, until: end) else { throw lost(failure) }
            }
            guard let next = pq.call.PQgetResult(handle).map({ PostgreSQLResult(pq, $0) }) else { break }
            result = next
            failure = failure ?? self.failure(next)
        }
        if var failure {
            failure.isLost = isBroken
            throw failure
        }
        guard let result else { throw lost() }
        return result
    }

    /// - Returns: false if the connection is gone.
    private func wait(for events: Int32, until end: ContinuousClock.Instant) throws(PostgreSQLError) -> Bool {
        let rest = Int32(max(.zero, end - .now) / .milliseconds(1))
        var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
        let count = poll(&descriptor, 1, rest)
        if count < 0 { return errno == EINTR }
        guard count > 0 else {
            cancel()
            isGivenUp = true
            throw PostgreSQLError(
                error: StorageError(.unavailable, name, problem: "has given no answer for \(Self.patience)"), isLost: true)
        }
        return descriptor.revents & Int16(POLLOUT) != 0 && descriptor.revents & Int16(POLLIN) == 0
            || pq.call.PQconsumeInput(handle) == 1
    }

    /// The server need not go on with what nobody waits for. It may not hear this.
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
            isGivenUp = true
            return lost()
        }
        return PostgreSQLError(
            error: StorageError(name, sqlState: state, result.field("M") ?? "the statement failed"), state: state)
    }

    /// - Parameter last: what the server said before the end, if it said something.
    private func lost(_ last: PostgreSQLError? = nil) -> PostgreSQLError {
        isGivenUp = true
        if let last { return PostgreSQLError(error: last.error, state: last.state, isLost: true) }
        let message = pq.message(of: handle)
        return PostgreSQLError(
            error: StorageError(
                .unavailable, name, problem: message.isEmpty ? "the connection is lost" : "the connection is lost: \(message)"),
            isLost: true)
    }
}
