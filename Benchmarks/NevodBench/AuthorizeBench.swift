import CPeers
import Glibc
import HMACAuth
import NevodHost
import NevodPluginABI

/// Compares `authorize` through the shared library, the same code linked in, and libcrypto alone on the same bytes.
struct AuthorizeBench {
    private struct Case {
        let name: String
        let request: HTTPRequest
        /// The bytes that the scheme signs, with a fixed timestamp as long as the real one.
        let message: [UInt8]
        let body: [UInt8]
    }

    private let cases: [Case]
    private let chain: RecipeChain
    private let library: PluginToken
    private let linked: PluginToken
    private static let key: [UInt8] = Array("0123456789abcdef0123456789abcdef".utf8)

    init() throws {
        let settings: SchemeSettings = ["api-key": "demo", "secret": .secret(Secret(copying: Self.key))]
        library = try Plugin(named: "libHMACAuth.so").scheme("hmac").makeInstance(settings: settings).token
        linked = try Plugin(builtIn: UnsafeRawPointer(nevod_plugin_v1())).scheme("hmac").makeInstance(settings: settings).token
        chain = try RecipeChain(key: Self.key)
        let body = Array(repeating: UInt8(ascii: "x"), count: 1024)
        cases = [
            Case(
                name: "get", request: try HTTPRequest(.get, "https://api.example.com/v1/orders?limit=10"),
                message: Array("GET\n/v1/orders\n1700000000\n".utf8), body: []),
            Case(
                name: "post-1k", request: try HTTPRequest(.post, "https://api.example.com/v1/orders", body: .bytes(body)),
                message: Array(("POST\n/v1/orders\n1700000000\n" + String(repeating: "0", count: 64)).utf8), body: body),
        ]
    }

    func run() throws {
        row([
            "authorize", "libcrypto alone", "linked in", "through the .so", "linked in ÷ libcrypto", ".so ÷ libcrypto",
            ".so ÷ linked in",
        ])
        row(Array(repeating: "---", count: 7))
        for test in cases {
            var bare: [Double] = []
            var inside: [Double] = []
            var through: [Double] = []
            for _ in 0..<21 {
                bare.append(try time { try libcrypto(test, 20_000) })
                inside.append(try time { try authorize(test, linked, 20_000) })
                through.append(try time { try authorize(test, library, 20_000) })
            }
            let ratios = { (above: [Double], below: [Double]) in rounded(median(zip(above, below).map { $0 / $1 }), 2) }
            row([
                test.name, nanoseconds(bare), nanoseconds(inside), nanoseconds(through), ratios(inside, bare),
                ratios(through, bare), ratios(through, inside),
            ])
        }
        print("")
        row(["a preset of five steps", "libcrypto alone", "through the .so", ".so ÷ libcrypto"])
        row(Array(repeating: "---", count: 4))
        var bare: [Double] = []
        var through: [Double] = []
        for _ in 0..<21 {
            bare.append(try time { try chain.libcrypto(20_000) })
            through.append(try time { try chain.authorize(20_000) })
        }
        row([
            "aws-like", nanoseconds(bare), nanoseconds(through), rounded(median(zip(through, bare).map { $0 / $1 }), 2),
        ])
    }

    /// Prints the host's and libcrypto's allocations per call, which are the same on every machine.
    func count() throws {
        for test in cases {
            let bare = try allocations { try libcrypto(test, $0) }
            let through = try allocations { try authorize(test, library, $0) }
            print("allocations.\(test.name).total \(rounded(through, 2))")
            print("allocations.\(test.name).libcrypto \(rounded(bare, 2))")
            print("allocations.\(test.name).host \(rounded(through - bare, 2))")
        }
        let bare = try allocations { try chain.libcrypto($0) }
        let through = try allocations { try chain.authorize($0) }
        print("allocations.recipe.host \(rounded(through - bare, 2))")
    }

    /// Runs one case `count` times, for a tool that counts instructions.
    func spin(_ name: String, _ count: Int) throws {
        for test in cases where name == "so-\(test.name)" { try authorize(test, library, count) }
        for test in cases where name == "libcrypto-\(test.name)" { try libcrypto(test, count) }
    }

    private func authorize(_ test: Case, _ token: PluginToken, _ count: Int) throws {
        // Measures a retry: the lines exist already and are overwritten.
        var request = test.request
        try token.authorize(&request)
        for _ in 0..<count { try token.authorize(&request) }
        guard request.headers["X-Signature"]?.count == 64 else { throw BenchError(description: "not signed") }
    }

    private func libcrypto(_ test: Case, _ count: Int) throws {
        guard let hmac = cpeers_hmac_new(Self.key, Self.key.count), let sha = cpeers_sha256_new() else {
            throw BenchError(description: "libcrypto refuses")
        }
        defer {
            cpeers_hmac_free(hmac)
            cpeers_sha256_free(sha)
        }
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { hex in
            guard let out = hex.baseAddress else { return }
            for _ in 0..<count {
                var failures: Int32 = 0
                if !test.body.isEmpty { failures |= cpeers_sha256_hex(sha, test.body, test.body.count, out) }
                failures |= cpeers_hmac_hex(hmac, test.message, test.message.count, out)
                guard failures == 0 else { throw BenchError(description: "libcrypto refuses") }
            }
        }
    }

    private func time(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return (now() - start) / 20_000
    }

    /// Returns the allocations per call: the difference between 2,000 and 1,000 calls, after a warm-up.
    private func allocations(_ body: (_ count: Int) throws -> Void) rethrows -> Double {
        var totals: [UInt64] = []
        try body(1000)
        for count in [1000, 2000] {
            let start = cpeers_allocations()
            try body(count)
            totals.append(cpeers_allocations() - start)
        }
        return Double(totals[1]) / 1000 - Double(totals[0]) / 1000
    }

    private func nanoseconds(_ values: [Double]) -> String {
        "\(rounded(median(values) * 1e9, 0)) ns"
    }
}
