import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

/// These tests' servers accept connections but never respond: they drop them or stay silent.
@Suite(.blocking, .timeLimit(.minutes(3)))
struct PostgreSQLSilenceTests {
    /// A listener, and the connections that it has accepted.
    private struct Listener {
        let server: RawServer
        let accepted = Collected<Int>()
        /// The number of callers waiting for a connection.
        let asking = Shared(0)

        /// - Parameter count: the first connection is kept open until that many callers wait.
        init(droppingAfter count: Int) throws {
            let (accepted, asking) = (accepted, asking)
            server = try RawServer { connection, index in
                accepted.append(index)
                // Limited even if the test fails.
                let end = ContinuousClock.now + .seconds(30)
                while index == 0, asking.value < count, ContinuousClock.now < end { usleep(1000) }
                connection.reset()
            }
        }

        init() throws {
            let accepted = accepted
            server = try RawServer { connection, index in
                accepted.append(index)
                _ = connection.waitForEnd()
            }
        }

        func target(_ more: String = "") throws -> PostgreSQLTarget {
            let port = server.authority.split(separator: ":")[1]
            return try PostgreSQLTarget(
                LibPQ(), "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable \(more)")
        }

        /// - Returns: the number of calls that failed because the server is unreachable.
        func failures(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async -> Int {
            await withTaskGroup { group in
                for number in 0..<count {
                    group.addTask { [asking] in
                        asking.withLock { $0 += 1 }
                        do { try await body(number) } catch {
                            let error = (error as? PostgreSQLError)?.error ?? error as? StorageError
                            return error?.code == .unavailable && error?.problem.hasPrefix("can't be reached") == true
                        }
                        return false
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
        }
    }

    @Test func `A failed connection fails all that wait for it, with one attempt`() async throws {
        let listener = try Listener(droppingAfter: 1)
        let worker = PostgreSQLWorker(try listener.target())
        #expect(await listener.failures(1) { _ in try await worker.runRetrying { (_, _) throws(PostgreSQLError) in } } == 1)
        // The second connection checks whether the server is only starting.
        #expect(listener.accepted.values == [0, 1])

        let other = try Listener(droppingAfter: 100)
        let locks = PostgreSQLRenewalLocks(try other.target(), try PostgreSQLSchema("s"), channel: "c", store: .random())
        let count = await other.failures(100) { number in
            try await locks.withLock(for: StorageKey(rawValue: "\(number)")) { Issue.record("there is no lock") }
        }
        #expect(count == 100)
        // A task that starts late may cause another attempt.
        #expect(other.accepted.values.count < 20)
    }

    @Test func `A failed connection fails all reads that wait for it`() async throws {
        let listener = try Listener(droppingAfter: 3000)
        let reads = try PostgreSQLReadBatcher(listener.target(), PostgreSQLSchema("s"))
        let count = await listener.failures(3000) { number in
            _ = try await reads.entry(for: StorageKey(rawValue: "\(number)"))
        }
        #expect(count == 3000)
        // If each of the twenty or so round trips made its own two attempts, there would be more.
        #expect(listener.accepted.values.count < 20)
    }

    @Test func `A server that doesn't respond is asked once`() async throws {
        let listener = try Listener()
        let worker = PostgreSQLWorker(try listener.target("connect_timeout=2"))
        #expect(await listener.failures(1) { _ in try await worker.runRetrying { (_, _) throws(PostgreSQLError) in } } == 1)
        #expect(listener.accepted.values == [0])
    }

    @Test func `A server that becomes ready between a refused connection and the check is connected to again`() async throws {
        let accepted = Collected<Int>()
        let server = try RawServer { connection, index in
            accepted.append(index)
            connection.write(index == 0 ? Self.error("57P03", "starting up") : Self.error("3D000", "connection \(index)"))
            _ = connection.waitForEnd()
        }
        let port = server.authority.split(separator: ":")[1]
        let target = try PostgreSQLTarget(
            LibPQ(), "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable")
        // Connects, checks, connects and checks, but not a third time.
        let error = #expect(throws: PostgreSQLError.self) { try target.connect() }
        #expect(error?.error.problem.contains("connection 2") == true)
        #expect(accepted.values == [0, 1, 2, 3])
    }

    @Test func `A refused password is sent once`() async throws {
        let accepted = Collected<Int>()
        let server = try RawServer { connection, index in
            accepted.append(index)
            connection.write(Self.error("28P01", "password authentication failed for user \"u\""))
            _ = connection.waitForEnd()
        }
        let port = server.authority.split(separator: ":")[1]
        let target = try PostgreSQLTarget(
            LibPQ(), "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable")
        #expect(throws: PostgreSQLError.self) { try target.connect() }
        // The second connection is the check, which sends no password.
        #expect(accepted.values == [0, 1])
    }

    /// An ErrorResponse of PostgreSQL's protocol (version 3, "Message Formats").
    private static func error(_ code: String, _ message: String) -> String {
        let fields = "SFATAL\0VFATAL\0C\(code)\0M\(message)\0\0"
        return "E\0\0\0\(Unicode.Scalar(UInt8(fields.utf8.count + 4)))\(fields)"
    }
}
