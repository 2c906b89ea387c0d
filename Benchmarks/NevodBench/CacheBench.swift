import Glibc
import NevodHost
import NevodSupport

/// Compares a hit in memory, a hit on disk and a request, in turns, for bodies of several sizes.
struct CacheBench {
    let url: String
    let folder: String
    private static let rounds = 9
    private static let targets = 100

    /// Responds with a cacheable body.
    private struct Canned: HTTPTransport {
        let body: [UInt8]
        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            HTTPResponse(
                version: .http11, status: 200, reason: "OK",
                headers: ["Content-Type": "application/json", "Cache-Control": "max-age=3600", "ETag": "\"a\""],
                body: .bytes(body))
        }
    }

    func run() async throws {
        let curl = CurlSession()
        row(["body", "request", "hit in memory", "hit on disk", "disk ÷ memory", "disk ÷ request", "storing on disk, each"])
        row(Array(repeating: "---", count: 7))
        for size in [200, 20_000, 1_000_000] {
            let body = [UInt8](repeating: 0x78, count: size)
            let disk = DiskCache(path: "\(folder)/\(size).db", key: KeyFile(path: "\(folder)/key"), byteLimit: 512 << 20)
            let caches = (
                memory: CachingSession(Canned(body: body), store: InMemoryCache(byteLimit: 512 << 20)),
                disk: CachingSession(Canned(body: body), store: disk)
            )
            // Opens the file and fills both caches.
            _ = try await time(caches.memory, "http://h/", size)
            try await disk.open()
            let start = now()
            _ = try await time(caches.disk, "http://h/", size)
            await disk.flush()
            let storing = (now() - start) / Double(Self.targets)
            var times: (request: [Double], memory: [Double], disk: [Double]) = ([], [], [])
            for _ in 0..<Self.rounds {
                // All of the server's bodies have the same size.
                times.request.append(try await time(curl, url, 200))
                times.memory.append(try await time(caches.memory, "http://h/", size))
                times.disk.append(try await time(caches.disk, "http://h/", size))
            }
            let ratio = { (below: [Double]) in rounded(median(zip(times.disk, below).map { $0 / $1 }), 2) }
            let micro = { (seconds: Double) in "\(rounded(seconds * 1e6, 1)) µs" }
            row([
                "\(size)", micro(median(times.request)), micro(median(times.memory)), micro(median(times.disk)),
                ratio(times.memory), ratio(times.request), micro(storing),
            ])
        }
    }

    /// Returns the seconds per request, measured over many requests with different targets.
    private func time(_ session: some HTTPTransport, _ url: String, _ size: Int) async throws -> Double {
        let start = now()
        for number in 0..<Self.targets {
            let response = try await session.send(HTTPRequest(.get, "\(url)?\(number)"), TransferOptions())
            guard response.status == 200, case .bytes(let body) = response.body, body.count == size else {
                throw BenchError(description: "unexpected response: status \(response.status)")
            }
        }
        return (now() - start) / Double(Self.targets)
    }
}
