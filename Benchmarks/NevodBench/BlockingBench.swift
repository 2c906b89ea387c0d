import CPeers
import NevodHost

/// Compares ordinary requests with and without a request of the same session whose scheme takes a second.
struct BlockingBench {
    let url: String
    private static let requests = 100
    private static let rounds = 7

    func run() async throws {
        let session = CurlSession()
        let plain = NetworkProvider(session: session)
        let scheme = try Plugin(builtIn: cpeers_slow_plugin()).scheme()
        let slow = NetworkProvider(session: session, signer: try scheme.makeInstance().token)
        var (alone, beside): ([Double], [Double]) = ([], [])
        _ = try await percentile(plain)
        for _ in 0..<Self.rounds {
            alone.append(try await percentile(plain))
            let blocked = Task { try await slow.send(HTTPRequest(.get, url)) }
            // By now the slow call has begun. It lasts much longer than all the requests.
            try await Task.sleep(for: .milliseconds(100))
            beside.append(try await percentile(plain))
            _ = try await blocked.value
        }
        row(["requests", "99th percentile alone", "beside a call that takes 1 s", "difference", "ratio"])
        row(Array(repeating: "---", count: 5))
        row([
            "\(Self.requests)", milliseconds(median(alone)), milliseconds(median(beside)),
            milliseconds(median(beside) - median(alone)), rounded(median(zip(beside, alone).map { $0 / $1 }), 2),
        ])
    }

    /// Returns the 99th percentile of the requests' times, in seconds.
    private func percentile(_ provider: NetworkProvider) async throws -> Double {
        let request = try HTTPRequest(.get, url)
        var times: [Double] = []
        for _ in 0..<Self.requests {
            let start = now()
            let response = try await provider.send(request)
            guard response.status == 200 else { throw BenchError(description: "unexpected status \(response.status)") }
            times.append(now() - start)
        }
        return times.sorted()[Self.requests * 99 / 100 - 1]
    }

    private func milliseconds(_ seconds: Double) -> String { "\(rounded(seconds * 1000, 3)) ms" }
}
