import NevodStorage
import NevodSupport
import NevodTestSupport

@testable import NevodHost
@testable import NevodHostTestSupport

/// A cache on disk, and a server that counts the changes of its resources. A GET returns a resource's version; another method
/// increments it.
final class DiskCacheFixture: Sendable {
    let folder: TemporaryFolder
    let clock = TestClock()
    let server: RawServer
    let lines = Collected<String>()
    private let versions = Versions()
    private let heads = Collected<String>()

    private final class Versions: Sendable {
        private let versions = Locked<[String: Int]>([:])

        func version(of path: String, changing: Bool) -> Int {
            versions.withLock { versions in
                if changing { versions[path, default: 1] += 1 }
                return versions[path, default: 1]
            }
        }
    }

    private let control: String
    /// The text of a body after its first line.
    let filler: String

    /// - Parameters:
    ///   - control: the Cache-Control of responses to GET.
    ///   - wait: called with the target of each GET before the response is written.
    init(
        control: String = "max-age=3600", filler: String = "", date: String? = nil,
        wait: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        folder = try TemporaryFolder()
        self.control = control
        self.filler = filler
        let (versions, heads, clock) = (versions, heads, clock)
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                heads.append(request.head)
                let words = request.head.split(separator: " ")
                let path = String(words[1])
                let isGet = words[0] == "GET"
                let version = versions.version(of: path, changing: !isGet)
                if isGet { wait(path) }
                let user = ["alice", "bob"].first { request.head.contains("Bearer \($0)") } ?? "anyone"
                let tag = "\"\(version)-\(user)\""
                if isGet, request.head.contains("If-None-Match: \(tag)") {
                    connection.write(CannedResponse(status: 304, lines: ["Cache-Control: \(control)"]).text(clock))
                } else {
                    let lines = isGet ? ["Cache-Control: \(control)", "ETag: \(tag)", "X-Reply: confidential"] : []
                    let body = "\(path) \(version) \(user)\n\(filler)"
                    connection.write(
                        CannedResponse(lines: lines + (date.map { ["Date: \($0)"] } ?? []), body: body).text(clock))
                }
            }
        }
    }

    var requests: [String] { heads.values }
    var path: String { "\(folder.path)/cache/responses.db" }
    var key: KeyFile { KeyFile(path: "\(folder.path)/cache/key") }

    func cache(
        key: (any StoreKeySource)? = nil, byteLimit: Int = 32 << 20, pause: Duration = .zero
    ) -> DiskCache {
        DiskCache(
            path: path, key: key ?? self.key, byteLimit: byteLimit, entryByteLimit: 4 << 20, pause: pause,
            logger: CollectingLogger(lines: lines))
    }

    func send(
        _ method: HTTPMethod, _ target: String, _ cache: DiskCache, user: String? = nil, clock: HostClock? = nil,
        timeToLive: TimeToLive? = nil
    ) async throws -> String {
        let session = CachingSession(CurlSession(), store: cache, timeToLive: timeToLive, clock: clock ?? self.clock.clock)
        var request = try HTTPRequest(method, server.url + target)
        if let user { try request.setHeader("Authorization", "Bearer \(user)") }
        let response = try await session.send(request, TransferOptions(timeout: .seconds(30)))
        return String(decoding: try await response.body.collect(), as: UTF8.self).split(separator: "\n").first.map(String.init)
            ?? "\(response.status)"
    }

    func get(_ target: String, _ cache: DiskCache, user: String? = nil) async throws -> String {
        try await send(.get, target, cache, user: user)
    }

    /// Runs storage-child until it exits, and returns its lines.
    func child(limit: Int = 0, _ steps: [String]) throws -> [String] {
        let (pid, pipe) = try StorageChild.spawn(["cache", "\(folder.path)/cache", server.url, "\(limit)"] + steps)
        let lines = LineReader(pipe).rest()
        Command.wait(for: pid)
        return lines
    }

    private struct CollectingLogger: NetworkLogger {
        let lines: Collected<String>
        func isEnabled(_ level: LogLevel) -> Bool { true }
        func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) { lines.append(message) }
    }
}
