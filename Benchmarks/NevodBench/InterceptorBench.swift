import CPeers
import Glibc
import NevodHost

/// What an interceptor costs that does nothing, in chains of several lengths.
struct InterceptorBench {
    /// Written against the exchange.
    private struct Native: RequestInterceptor {
        func adapt(_ exchange: inout Exchange) async throws {}
    }

    /// All defaults: the chain goes by way of the methods for a request alone.
    private struct Bare: RequestInterceptor {}

    private struct Nowhere: HTTPTransport {
        func prepare(_ request: inout HTTPRequest) {}
        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            throw TransportError(.connectionFailed)
        }
    }

    func run() async throws {
        row(["interceptors", "native, each", "allocations, each", "all defaults, each", "allocations, each"])
        row(Array(repeating: "---", count: 5))
        for length in [1, 10, 100, 1000] {
            let native = try await measure(Array(repeating: Native(), count: length))
            let bare = try await measure(Array(repeating: Bare(), count: length))
            row([
                "\(length)", "\(rounded(native.nanoseconds, 1)) ns", rounded(native.allocations, 2),
                "\(rounded(bare.nanoseconds, 1)) ns", rounded(bare.allocations, 2),
            ])
        }
    }

    /// What is the same on every machine: allocations of each of 100, beyond those of the way through an empty chain.
    func count() async throws {
        let native = try await measure(Array(repeating: Native(), count: 100))
        let bare = try await measure(Array(repeating: Bare(), count: 100))
        print("allocations.interceptor.native \(rounded(native.allocations, 2))")
        print("allocations.interceptor.defaults \(rounded(bare.allocations, 2))")
    }

    /// Of each interceptor: the way through the chain less the way through an empty one.
    private func measure(_ chain: [any RequestInterceptor]) async throws -> (nanoseconds: Double, allocations: Double) {
        let rounds = 200_000 / (chain.count + 10)
        var costs: [Double] = []
        var allocations = 0.0
        for _ in 0..<11 {
            let empty = try await authorize(NetworkProvider(session: Nowhere()), rounds)
            let full = try await authorize(
                NetworkProvider(session: Nowhere(), interceptor: InterceptorChain(chain)), rounds)
            costs.append((full.seconds - empty.seconds) / Double(rounds * chain.count) * 1e9)
            allocations = Double(full.allocations - empty.allocations) / Double(rounds * chain.count)
        }
        return (median(costs), allocations)
    }

    private func authorize(_ provider: NetworkProvider, _ rounds: Int) async throws -> (seconds: Double, allocations: Int) {
        let request = try HTTPRequest(.get, "https://api.example.com/v1/orders?limit=10")
        let before = cpeers_allocations()
        let start = now()
        for _ in 0..<rounds { _ = try await provider.authorize(request) }
        return (now() - start, Int(cpeers_allocations()) - Int(before))
    }
}
