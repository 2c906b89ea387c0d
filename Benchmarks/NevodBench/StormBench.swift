import Foundation
import NevodHost
import NevodHostFoundation

/// Compares 10,000 concurrent requests with an expired token to 10,000 with a valid one, with the same client and server.
struct StormBench {
    private struct Counts: Decodable {
        let answered: Int
        let refused: Int
        let issued: Int
    }

    private struct Storm {
        let seconds: Double
        let exchanges: Int
        /// The number of requests that the server received beyond those performed.
        let extra: Int
    }

    private static let requests = 10_000
    private static let rounds = 11

    private let url: String
    private let plain: NetworkProvider
    private let provider: NetworkProvider
    private let storage = TokenStorage<OAuthToken>(storage: InMemoryStorage())

    init(url: String) {
        self.url = url
        let session = CurlSession()
        let plain = NetworkProvider(session: session)
        self.plain = plain
        provider = NetworkProvider(
            config: NetworkConfig(environments: [PerformBench.Service.items: SimpleEnvironment(baseURL: url)]), session: session,
            interceptor: AuthenticationInterceptor(
                tokenStorage: storage, refreshStrategy: { _ in try await Self.exchange(url, plain) }))
    }

    func run() async throws {
        var (valid, expired, exchanges): ([Storm], [Storm], [Double]) = ([], [], [])
        for round in 0...Self.rounds {
            let start = now()
            let token = try await Self.exchange(url, plain)
            let exchangeTime = now() - start
            try await storage.save(token)
            let calm = try await storm()
            _ = try await plain.send(HTTPRequest(.get, "\(url)expire"))
            let rough = try await storm()
            if round == 0 { continue }
            exchanges.append(exchangeTime)
            valid.append(calm)
            expired.append(rough)
        }
        row(["10,000 at once", "median", "÷ valid token", "exchanges", "requests beyond 10,000"])
        row(Array(repeating: "---", count: 5))
        for (name, storms) in [("valid token", valid), ("expired token", expired)] {
            row([
                name, milliseconds(storms.map(\.seconds)),
                rounded(median(zip(storms, valid).map { $0.seconds / $1.seconds }), 2), range(storms.map(\.exchanges)),
                range(storms.map(\.extra)),
            ])
        }
        row(["one exchange alone", milliseconds(exchanges), "", "", ""])
    }

    private static func exchange(_ url: String, _ provider: NetworkProvider) async throws -> OAuthToken {
        let response = try await provider.send(HTTPRequest(.post, "\(url)token", body: .bytes(Array("refresh".utf8))))
        return try JSONDecoder().value(OAuthToken.self, in: try await response.body.collect())
    }

    private func counts() async throws -> Counts {
        let response = try await plain.send(HTTPRequest(.get, "\(url)counts"))
        return try JSONDecoder().value(Counts.self, in: try await response.body.collect())
    }

    private func storm() async throws -> Storm {
        let route = SimpleGetRoute<PerformBench.Item, PerformBench.Service>(endpoint: "/api", domain: .items)
        let before = try await counts()
        let start = now()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<Self.requests {
                group.addTask { _ = try await provider.perform(route) }
            }
            try await group.waitForAll()
        }
        let seconds = now() - start
        let after = try await counts()
        return Storm(
            seconds: seconds, exchanges: after.issued - before.issued,
            extra: after.answered - before.answered - Self.requests)
    }

    private func milliseconds(_ values: [Double]) -> String {
        "\(rounded(median(values) * 1e3, 1)) ms"
    }

    private func range(_ values: [Int]) -> String {
        guard let least = values.min(), let most = values.max() else { return "" }
        return least == most ? "\(least)" : "\(least) to \(most)"
    }
}
