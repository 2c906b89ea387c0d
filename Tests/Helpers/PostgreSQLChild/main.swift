// Uses a PostgreSQLStorage for a test in another process.
//
//   postgresql-child renew CONNECTION SCHEMA KEYFILE GO URL…
//                     says "ready"; once there is a file GO, requests each URL's API with the token of that number, all at
//                     once, and renews what is refused
//   postgresql-child hold CONNECTION SCHEMA KEYFILE KEY
//                     says "held" under the renewal lock of a key, and keeps it until it is killed
import Glibc
import NevodHost
import NevodHostPostgreSQL

func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(1, bytes, bytes.count)
}

/// The exchange as an embedder writes it.
func refresh(_ old: OAuthToken?, at url: String, _ provider: NetworkProvider) async throws -> OAuthToken {
    guard let refreshToken = old?.refreshToken else { throw NetworkError.unauthorized }
    let response = try await provider.send(try HTTPRequest(.post, "\(url)/token", body: .bytes(Array(refreshToken.utf8))))
    let body = try await response.body.collect()
    guard response.status == 200 else {
        throw NetworkError.clientError(response.status, data: body, response: response)
    }
    let parts = String(decoding: body, as: UTF8.self).split(separator: " ").map(String.init)
    return OAuthToken(accessToken: parts[0], refreshToken: parts[1])
}

func request(_ url: String, _ number: Int, _ storage: PostgreSQLStorage) async throws -> Int {
    let session = CurlSession()
    let plain = NetworkProvider(session: session)
    let tokens = TokenStorage<OAuthToken>(storage: storage, key: StorageKey(rawValue: "token \(number)"))
    let interceptor = AuthenticationInterceptor(
        tokenStorage: tokens, refreshStrategy: { old in try await refresh(old, at: url, plain) })
    let provider = NetworkProvider(session: session, interceptor: interceptor)
    return try await provider.send(try HTTPRequest(.get, "\(url)/api")).status
}

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let storage = try await PostgreSQLStorage(
        connection: arguments[1], schema: arguments[2], keys: [KeyFile(path: arguments[3])])
    switch arguments[0] {
    case "hold":
        try await storage.withRenewalLock(for: StorageKey(rawValue: arguments[4])) {
            say("held")
            while true { pause() }
        }
    default:
        say("ready")
        for _ in 0..<60_000 where access(arguments[4], F_OK) != 0 { usleep(1000) }
        let statuses = try await withThrowingTaskGroup { group in
            for (number, url) in arguments.dropFirst(5).enumerated() {
                group.addTask { try await request(url, number, storage) }
            }
            var statuses: [Int] = []
            for try await status in group { statuses.append(status) }
            return statuses
        }
        guard statuses.allSatisfy({ $0 == 200 }) else { throw StorageError(.other, "api", problem: "answered \(statuses)") }
    }
    say("ok")
} catch {
    say("\(error)")
}
