import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

struct LogThreadTests {
    /// Blocks in `write` until the test releases it.
    private final class StuckLogger: NetworkLogger {
        let isWriting = Latch()
        let mayGoOn = Latch()

        func isEnabled(_ level: LogLevel) -> Bool { true }

        func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
            isWriting.set()
            mayGoOn.waitOnThread()
        }
    }

    @Test func `A logger that blocks delays its own request alone`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let session = CurlSession()
        let logger = StuckLogger()
        let logging = NetworkProvider(session: session, interceptor: LoggingInterceptor(logger: logger))
        let logged = Task { try await logging.send(HTTPRequest(.get, server.url)).status }
        await logger.isWriting.wait()
        defer { logger.mayGoOn.set() }
        for _ in 0..<10 {
            let response = try await NetworkProvider(session: session).send(
                HTTPRequest(.get, server.url), RequestOptions(timeout: .seconds(30)))
            #expect(response.status == 200)
        }
        logger.mayGoOn.set()
        #expect(try await logged.value == 200)
    }

    @Test func `Work is done without a thread of its own`() async {
        // Each time, the work may end and release the object while it is still being handed over.
        for _ in 0..<20_000 {
            let thread = LogThread { _ in false }
            let done = await withTaskExecutorPreference(thread) { true }
            #expect(done)
        }
    }

    @Test func `All work is done, in turn`() async {
        let thread = LogThread()
        let steps = Collected<Int>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 {
                group.addTask(executorPreference: thread) {
                    steps.append(1)
                    steps.append(-1)
                }
            }
        }
        #expect(steps.values.count == 400)
        #expect(steps.values.enumerated().allSatisfy { $1 == ($0 % 2 == 0 ? 1 : -1) })
    }
}
