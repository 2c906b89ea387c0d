import Foundation
import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct DownloadTests {
    private let folder: TemporaryFolder
    private let route = SimpleGetRoute<EmptyResponse, Service>(endpoint: "/file", domain: .api)
    private let content = [UInt8]((0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

    init() throws {
        folder = try TemporaryFolder()
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    private func server(length: Int? = nil, _ status: Int = 200, sending count: Int? = nil) throws -> RawServer {
        let content = content
        let length = length.map { "Content-Length: \($0)\r\n" } ?? "Connection: close\r\n"
        return try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 \(status) X\r\nX-A: 1\r\n\(length)\r\n")
            connection.write(content.prefix(count ?? content.count))
        }
    }

    @Test func `A file appears when it is complete`() async throws {
        let path = try folder.write("f", Array("old".utf8), mode: 0o644)
        let seen = Collected<TransferProgress>()
        let whileLoading = Collected<[UInt8]>()
        let response = try await NetworkProvider.test(server(length: content.count)).download(route, to: path) {
            seen.append($0)
            whileLoading.append((try? contents(of: path)) ?? [])
        }
        #expect(response.status == 200 && response.headers["X-A"] == "1")
        #expect(try contents(of: path) == content)
        #expect(try files == ["f"])
        #expect(whileLoading.values.allSatisfy { $0 == Array("old".utf8) })
        #expect(seen.values.count > 1 && seen.values.allSatisfy { $0.total == 400_000 })
        #expect(seen.values.map(\.completed) == seen.values.map(\.completed).sorted() && seen.values.last?.fraction == 1)
        var info = stat()
        #expect(stat(path, &info) == 0 && info.st_mode & 0o777 == 0o600)
    }

    @Test func `A download of unknown length is complete`() async throws {
        let seen = Collected<TransferProgress>()
        try await NetworkProvider.test(server()).download(route, to: "\(folder.path)/f") { seen.append($0) }
        #expect(seen.values.last == TransferProgress(completed: 400_000, total: nil))
        #expect(try contents(of: "\(folder.path)/f") == content)
    }

    @Test func `A name without a folder is relative to the working directory`() throws {
        // Changing the working directory would affect all other tests.
        let name = "nevod-download-\(getpid())"
        let file = try AtomicFile.randomlyNamed(".nevod-", for: name)
        try file.write([1])
        try file.commit()
        defer { unlink(name) }
        #expect(try contents(of: name) == [1])
    }

    @Test func `A failed download leaves the old file, and nothing else`() async throws {
        let path = try folder.write("f", Array("old".utf8))
        for (server, isRight) in [
            (try server(length: 400_000, sending: 100_000), { (error: NetworkError) in error.isConnectivityError }),
            (try server(length: 400_000, 404), { $0.statusCode == 404 && $0.responseBody?.count == 400_000 }),
        ] as [(RawServer, (NetworkError) -> Bool)] {
            let error = await #expect(throws: NetworkError.self) {
                try await NetworkProvider.test(server).download(route, to: path)
            }
            #expect(error.map(isRight) == true, "\(String(describing: error))")
            #expect(try contents(of: path) == Array("old".utf8))
            #expect(try files == ["f"])
        }
    }

    @Test func `A cancelled download leaves no file`() async throws {
        let began = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nbegin")
            _ = connection.waitForEnd()
        }
        let provider = NetworkProvider.test(server)
        let (route, path) = (route, "\(folder.path)/f")
        let task = Task { try await provider.download(route, to: path) { _ in began.set() } }
        await began.wait()
        task.cancel()
        let error = await #expect(throws: NetworkError.self) { try await task.value }
        if case .cancelled = error {} else { Issue.record("\(String(describing: error))") }
        #expect(try files.isEmpty)
    }

    @Test func `Without a writable folder no request is sent`() async throws {
        let server = try ScriptedServer()
        for (path, code) in [("\(folder.path)/none/f", ENOENT), (folder.path, EISDIR)] {
            let error = await #expect(throws: NetworkError.self) {
                try await NetworkProvider.test(server).download(route, to: path)
            }
            #expect(error?.underlying as? FileError == FileError(path, code))
        }
        #expect(server.requests.isEmpty)
    }
}
