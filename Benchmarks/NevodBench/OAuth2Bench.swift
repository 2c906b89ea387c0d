import CPeers
import NevodHost

/// Compares `authorize` of a bearer token through the shared library with setting the same header by hand.
struct OAuth2Bench {
    private static let rounds = 20_000
    /// As long as a token of a large provider.
    private static let text = String(repeating: "abcdefgh", count: 128)

    private let token: PluginToken
    private let request: HTTPRequest

    init() throws {
        let instance = try Plugin(named: "libOAuth2Auth.so").scheme("oauth2").makeInstance(
            settings: ["token-url": "https://login.example.com/token", "client-id": "bench"])
        // The token as the scheme stores it, after the host's prefix.
        let stored = try instance.token.encode() + Array("1\naccess-token \(Self.text)\ntype Bearer\n".utf8)
        token = try instance.token(PluginToken.decode(from: stored))
        request = try HTTPRequest(.get, "https://api.example.com/v1/orders?limit=10")
    }

    func run() throws {
        var byHand: [Double] = []
        var through: [Double] = []
        for _ in 0..<21 {
            byHand.append(try time(setHeader))
            through.append(try time(authorize))
        }
        row(["bearer token, 1 KB", "header set by hand", "through the .so", ".so ÷ by hand", "difference"])
        row(Array(repeating: "---", count: 5))
        row([
            "authorize", nanoseconds(median(byHand)), nanoseconds(median(through)),
            rounded(median(zip(through, byHand).map { $0 / $1 }), 2), nanoseconds(median(zip(through, byHand).map { $0 - $1 })),
        ])
    }

    /// Prints the allocations per call.
    func count() throws {
        try authorize(1000)
        var totals: [UInt64] = []
        for rounds in [1000, 2000] {
            let start = cpeers_allocations()
            try authorize(rounds)
            totals.append(cpeers_allocations() - start)
        }
        print("allocations.oauth2-bearer.host \(rounded(Double(totals[1]) / 1000 - Double(totals[0]) / 1000, 2))")
    }

    private func authorize(_ count: Int) throws {
        // Measures a retry: the line exists already and is overwritten.
        var request = self.request
        try token.authorize(&request)
        for _ in 0..<count { try token.authorize(&request) }
        guard request.headers["Authorization"] == "Bearer " + Self.text else { throw BenchError(description: "not authorized") }
    }

    private func setHeader(_ count: Int) throws {
        var request = self.request
        let value = "Bearer " + Self.text
        for _ in 0..<count { try request.setHeader("Authorization", value) }
        guard request.headers["Authorization"] == value else { throw BenchError(description: "not authorized") }
    }

    private func time(_ body: (_ count: Int) throws -> Void) rethrows -> Double {
        let start = now()
        try body(Self.rounds)
        return (now() - start) / Double(Self.rounds)
    }

    private func nanoseconds(_ seconds: Double) -> String { "\(rounded(seconds * 1e9, 0)) ns" }
}
