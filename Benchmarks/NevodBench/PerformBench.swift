import CPeers
import Foundation
import NevodHost
import NevodHostFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Measures `perform` as a whole: building the URL, signing with the HMAC plugin, sending, and decoding the JSON response.
/// Compares it with raw libcurl, which only sends, and with clients that do the same work.
struct PerformBench {
    let url: String
    /// The path of the script that runs the Python peers.
    let script: String
    private static let bodySize = 200
    private static let rounds = 11

    enum Service: ServiceDomain {
        case items
        var identifier: String { "items" }
    }

    struct Item: Decodable, Sendable {
        struct Owner: Decodable, Sendable {
            let id: Int
            let login: String
            let email: String
        }

        let id: Int
        let name: String
        let active: Bool
        let score: Double
        let tags: [String]
        let owner: Owner
        let created: String
        let note: String
    }

    static let route = SimpleGetRoute<Item, Service>(
        endpoint: "/v1/items/4711", domain: .items, headers: ["Accept": "application/json"])

    func run() async throws {
        row([
            "at a time", "libcurl", "perform", "÷ libcurl", "÷ libcurl, callers on the session's thread", "÷ URLSession",
            "÷ httpx", "÷ requests",
        ])
        row(Array(repeating: "---", count: 8))
        for concurrency in [1, 16, 64] { try await measure(concurrency) }
    }

    /// Performs `count` requests, for a profiler.
    func spin(_ concurrency: Int, _ count: Int) async throws {
        let provider = try Self.provider(url, CurlSession())
        print("\(rounded(try await rate(provider, concurrency, count) / 1000, 1)) k/s")
    }

    private func measure(_ concurrency: Int) async throws {
        guard
            let libcurl = cpeers_libcurl_open(
                "\(url)v1/items/4711", Int32(concurrency), Int32(CPEERS_LOOP_PERFORM), Self.bodySize)
        else { throw BenchError(description: "the libcurl peer can't start") }
        defer { cpeers_libcurl_close(libcurl) }
        let session = CurlSession()
        let curl = try Self.provider(url, session)
        let foundation = try Self.provider(url, Self.urlSession(concurrency))
        let httpx = try PythonPeer(script, "httpx", "\(url)v1/items/4711", concurrency)
        let requests = try PythonPeer(script, "requests", "\(url)v1/items/4711", concurrency)

        let many = concurrency == 1 ? 3_000 : 12_000
        let few = concurrency == 1 ? 300 : 1_200
        var rates: [[Double]] = Array(repeating: [], count: 6)
        for round in 0...Self.rounds {
            let scale = { (count: Int) in round == 0 ? concurrency : count }
            let measured = [
                try rate(libcurl, scale(many)), try await rate(curl, concurrency, scale(many)),
                try await rate(curl, concurrency, scale(many), on: session.executor),
                try await rate(foundation, concurrency, scale(few)), try httpx.rate(scale(few)), try requests.rate(scale(few)),
            ]
            if round == 0 { continue }
            for (side, rate) in measured.enumerated() { rates[side].append(rate) }
        }
        let ratio = { (above: Int, below: Int) in
            let ratio = median(zip(rates[above], rates[below]).map { $0 / $1 })
            return ratio.isNaN ? "not installed" : rounded(ratio, 2)
        }
        let perSecond = { (side: Int) in "\(rounded(median(rates[side]) / 1000, 1)) k/s" }
        row([
            "\(concurrency)", perSecond(0), perSecond(1), ratio(1, 0), ratio(2, 0), ratio(1, 3), ratio(1, 4), ratio(1, 5),
        ])
    }

    static func provider(_ url: String, _ session: any HTTPTransport) throws -> NetworkProvider {
        let settings: SchemeSettings = [
            "api-key": "demo", "secret": .secret(Secret(copying: Array("0123456789abcdef0123456789abcdef".utf8))),
        ]
        let token = try Plugin(named: "libHMACAuth.so").scheme("hmac").makeInstance(settings: settings).token
        let config = NetworkConfig(environments: [Service.items: SimpleEnvironment(baseURL: url)])
        return NetworkProvider(config: config, session: session, interceptor: TokenInterceptor(token, phase: .signature))
    }

    private static func urlSession(_ concurrency: Int) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = concurrency
        return URLSession(configuration: configuration)
    }

    private func rate(_ client: OpaquePointer, _ requests: Int) throws -> Double {
        var seconds = 0.0
        let failure = cpeers_libcurl_measure(client, requests, &seconds)
        guard failure == 0 else { throw BenchError(description: "libcurl peer: \(failure)") }
        return Double(requests) / seconds
    }

    /// - Parameter executor: the executor of the callers; nil for Swift's default.
    private func rate(
        _ provider: NetworkProvider, _ concurrency: Int, _ requests: Int, on executor: (any TaskExecutor)? = nil
    ) async throws -> Double {
        let start = now()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<concurrency {
                let share = requests / concurrency + (worker < requests % concurrency ? 1 : 0)
                group.addTask(executorPreference: executor) {
                    for _ in 0..<share {
                        let item = try await provider.perform(Self.route)
                        guard item.id == 4711, item.owner.login == "fisher" else {
                            throw BenchError(description: "unexpected response: \(item)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return Double(requests) / (now() - start)
    }
}
