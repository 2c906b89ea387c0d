import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests bodies that are never entirely in memory.
struct CurlStreamTests {
    private let session = CurlSession()
    private let streamed = TransferOptions(timeout: .seconds(60), delivery: .streamed)
    private let options = TransferOptions(timeout: .seconds(60))

    private func stream(_ response: HTTPResponse) throws -> HTTPResponseStream {
        guard case .stream(let stream) = response.body else { throw Command.Failure(description: "not a stream") }
        return stream
    }

    /// Waits forever, unless it is cancelled.
    private final class EndlessReader: HTTPBodyReader {
        let isReading = Latch()
        let isCancelled = Latch()

        func read(upTo count: Int) async throws -> [UInt8] {
            isReading.set()
            do { try await Task.sleep(for: .seconds(3600)) } catch { isCancelled.set() }
            throw CancellationError()
        }
    }

    @Test func `When a transfer ends, the reader of the request's body is cancelled`() async throws {
        let reader = EndlessReader()
        let server = try RawServer { connection, _ in while connection.readRequest() != nil {} }
        let body = HTTPBody.stream(HTTPBodyStream(length: 10, isReplayable: false) { reader })
        let request = try HTTPRequest(.put, server.url, body: body)
        let sending = Task { try await session.send(request, TransferOptions(timeout: .seconds(60))).status }
        await reader.isReading.wait()
        sending.cancel()
        await #expect(throws: TransportError(.cancelled)) { try await sending.value }
        await reader.isCancelled.wait()
    }

    // MARK: Downloads

    @Test func `A stream's head comes before its body`() async throws {
        let release = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
            release.waitOnThread()
            connection.write("ok")
        }
        let response = try await session.send(HTTPRequest(.get, server.url), streamed)
        #expect(response.status == 200)
        release.set()
        #expect(try await response.body.collect() == Array("ok".utf8))
        #expect(try await stream(response).next() == nil)
    }

    /// The server writes until there is no room. While the reader waits, only the sockets' and the session's buffers fill.
    /// Without back-pressure, the server would write everything.
    @Test func `A slow reader makes the server wait, and loses nothing`() async throws {
        let block = (0..<65536).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) }
        let blocks = 1024
        let writes = Collected<Void>()
        let stopped = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(blocks * block.count)\r\n\r\n")
            for _ in 0..<blocks {
                if !connection.canWrite() { stopped.set() }
                guard connection.write(block) else { return }
                writes.append(())
            }
            stopped.set()
        }
        let response = try await session.send(HTTPRequest(.get, server.url), streamed)
        await stopped.wait()
        #expect(writes.values.count < blocks / 2)
        var count = 0
        var isRight = true
        var largest = 0
        for try await piece in try stream(response) {
            largest = max(largest, piece.count)
            var offset = 0
            while offset < piece.count {
                let start = (count + offset) % block.count
                let length = min(block.count - start, piece.count - offset)
                isRight =
                    isRight
                    && piece.withUnsafeBytes { piece in
                        block.withUnsafeBytes { block in
                            guard let piece = piece.baseAddress, let block = block.baseAddress else { return false }
                            return memcmp(piece + offset, block + start, length) == 0
                        }
                    }
                offset += length
            }
            count += piece.count
        }
        #expect(count == blocks * block.count)
        #expect(isRight)
        // The bytes in memory are bounded by the high-water mark and one delivery of libcurl.
        #expect(largest <= 256 << 10 + 64 << 10)
    }

    @Test func `Dropping a stream ends the transfer`() async throws {
        let noticed = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            let chunk = "10000\r\n\(String(repeating: "x", count: 65536))\r\n"
            while connection.write(chunk) {}
            noticed.set()
        }
        do {
            let response = try await session.send(
                HTTPRequest(.get, server.url), TransferOptions(timeout: nil, delivery: .streamed))
            #expect(try await stream(response).next()?.isEmpty == false)
        }
        await noticed.wait()
    }

    @Test func `A reader that is cancelled ends the transfer`() async throws {
        let noticed = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            if connection.waitForEnd() { noticed.set() }
        }
        let response = try await session.send(HTTPRequest(.get, server.url), TransferOptions(timeout: nil, delivery: .streamed))
        let stream = try stream(response)
        let task = Task { () -> TransportError.Code? in
            do throws(TransportError) {
                _ = try await stream.next()
                return nil
            } catch { return error.code }
        }
        task.cancel()
        #expect(await task.value == .cancelled)
        await noticed.wait()
        let error = await #expect(throws: TransportError.self) { try await stream.next() }
        #expect(error?.code == .cancelled)
    }

    @Test func `A stream outlives its session`() async throws {
        let release = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha")
            release.waitOnThread()
            connection.write("lf")
        }
        var session: CurlSession? = CurlSession()
        let response = try await session?.send(HTTPRequest(.get, server.url), streamed)
        session = nil
        release.set()
        #expect(try await response?.body.collect() == Array("half".utf8))
    }

    // MARK: Uploads

    private let pieces = (0..<100).map { [UInt8](repeating: UInt8($0), count: 1 + $0 * 331) }
    private var whole: [UInt8] { pieces.flatMap { $0 } }

    @Test(arguments: [true, false])
    func `A streamed body arrives, with its length or in chunks`(isLengthKnown: Bool) async throws {
        let server = try DemoServer()
        let body = HTTPBodyStream.of(pieces, length: isLengthKnown ? Int64(whole.count) : nil, isReplayable: false)
        let response = try await session.send(HTTPRequest(.post, "\(server.url)/echo", body: .stream(body)), options)
        #expect(response.status == 200)
        #expect(try await response.body.collect() == whole)
        let headers = try #require(server.log().first).headers.map { "\($0[0]): \($0[1])" }
        #expect(headers.last == (isLengthKnown ? "Content-Length: \(whole.count)" : "Transfer-Encoding: chunked"))
        #expect(headers.count == 2)
    }

    @Test func `Thirty-two concurrent streams arrive whole`() async throws {
        let server = try DemoServer.shared.get()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<32 {
                group.addTask {
                    let body = HTTPBodyStream.of(pieces.map { [UInt8(index)] + $0 }, length: nil)
                    let response = try await session.send(HTTPRequest(.put, "\(server.url)/echo", body: .stream(body)), streamed)
                    return try await response.body.collect() == pieces.flatMap { [UInt8(index)] + $0 }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func `An empty stream of unknown length is sent as an empty body`() async throws {
        let server = try DemoServer.shared.get()
        let response = try await session.send(
            HTTPRequest(.post, "\(server.url)/echo", body: .stream(.of([], length: nil))), options)
        #expect(response.status == 200)
        #expect(try await response.body.collect() == [])
    }

    private struct Broken: Error, CustomStringConvertible {
        let description = "the disk is gone"
    }

    private func failure(_ body: HTTPBodyStream) async throws -> TransportError? {
        let server = try RawServer { connection, _ in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 204 No Content\r\n\r\n")
            _ = connection.waitForEnd()
        }
        do throws(TransportError) {
            _ = try await session.send(try invalid { try HTTPRequest(.post, server.url, body: .stream(body)) }, options)
            return nil
        } catch {
            return error
        }
    }

    private func invalid(_ make: () throws -> HTTPRequest) throws(TransportError) -> HTTPRequest {
        do { return try make() } catch { throw TransportError(.other, "\(error)") }
    }

    @Test func `A body shorter than its length is an error`() async throws {
        let error = try await failure(.of([[1, 2], [3]], length: 5))
        #expect(error?.code == .requestBody)
        #expect(error?.message == "its reader delivered only 3 of 5 bytes")
    }

    @Test func `A body longer than its length is an error`() async throws {
        let error = try await failure(.of([[1, 2], [3, 4]], length: 3))
        #expect(error?.code == .requestBody)
        #expect(error?.message == "its reader delivered more than the declared 3 bytes")
    }

    @Test func `A body whose reader fails, or can't be opened, is an error`() async throws {
        let late = try await failure(.of([[1, 2]], length: nil, failure: Broken()))
        #expect(late?.code == .requestBody)
        #expect(late?.message == "the disk is gone")
        let early = try await failure(HTTPBodyStream(length: 1, isReplayable: true) { throw Broken() })
        #expect(early?.code == .requestBody)
        #expect(early?.message == "the disk is gone")
    }

    @Test func `A server that closes during the upload is an error`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readHead()
            _ = connection.read(100_000)
            connection.reset()
        }
        let body = HTTPBodyStream.of(
            (0..<1000).map { _ in [UInt8](repeating: 1, count: 65536) }, length: 65536 * 1000, isReplayable: false)
        let error = await #expect(throws: TransportError.self) {
            _ = try await session.send(HTTPRequest(.post, server.url, body: .stream(body)), options)
        }
        #expect(error?.code == .connectionLost)
    }

    @Test func `A response before the end of the upload is returned`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readHead()
            connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
            _ = connection.waitForEnd()
        }
        let body = HTTPBodyStream.of(
            (0..<200).map { _ in [UInt8](repeating: 1, count: 65536) }, length: 65536 * 200, isReplayable: false)
        let response = try await session.send(HTTPRequest(.post, server.url, body: .stream(body)), options)
        #expect(response.status == 413)
        #expect(try await response.body.collect() == Array("big".utf8))
    }
}
