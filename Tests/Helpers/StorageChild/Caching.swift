import ChildSupport
import Glibc
import NevodHost

/// Sends requests through a cache in a folder: `get:/path`, `put:/path`, `clear`, `flush`; `loop` gets `/0` to `/49` repeatedly.
func useCache(_ folder: String, _ url: String, _ limitBytes: Int, _ steps: [String]) async throws {
    if limitBytes > 0 { limit(rlim_t(limitBytes), nil) }
    let cache = DiskCache(path: "\(folder)/responses.db", key: KeyFile(path: "\(folder)/key"))
    let session = CachingSession(CurlSession(), store: cache)
    func send(_ method: HTTPMethod, _ path: String) async throws {
        let response = try await session.send(HTTPRequest(method, url + path), TransferOptions(timeout: .seconds(30)))
        say("\(path) \(String(decoding: try await response.body.collect(), as: UTF8.self).prefix { $0 != "\n" })")
    }
    for step in steps {
        let parts = step.split(separator: ":", maxSplits: 1).map(String.init)
        switch parts[0] {
        case "get": try await send(.get, parts[1])
        case "put": try await send(.put, parts[1])
        case "clear": try await cache.removeAll()
        case "flush": await cache.flush()
        default:
            var number = 0
            while true {
                try await send(.get, "/\(number % 50)")
                number += 1
            }
        }
    }
    await cache.flush()
}
