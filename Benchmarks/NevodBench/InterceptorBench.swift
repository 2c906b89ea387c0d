import CPeers
import Glibc
import NevodHost

/// Measures the cost of an interceptor that does nothing, in chains of several lengths.
struct InterceptorBench {
    /// An interceptor written against the exchange.
    private struct Native: RequestInterceptor {
        func adapt(_ exchange: inout Exchange) async throws {}
    }

    /// An interceptor with only default methods, which call its methods for requests.
    private struct Default: RequestInterceptor {}

    private struct UnreachableTransport: HTTPTransport {
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
            let defaults = try await measure(Array(repeating: Default(), count: length))
            row([
                "\(length)", "\(rounded(native.nanoseconds, 1)) ns", rounded(native.allocations, 2),
                "\(rounded(defaults.nanoseconds, 1)) ns", rounded(defaults.allocations, 2),
            ])
        }
    }

    /// Prints the allocations per interceptor, which are the same on every machine: a chain of 100 minus an empty chain.
    func count() async throws {
        let native = try await measure(Array(repeating: Native(), count: 100))
        let defaults = try await measure(Array(repeating: Default(), count: 100))
        print("allocations.interceptor.native \(rounded(native.allocations, 2))")
        print("allocations.interceptor.defaults \(rounded(defaults.allocations, 2))")
    }

    /// Returns the cost per interceptor: the chain's cost minus an empty chain's.
    private func measure(_ chain: [any RequestInterceptor]) async throws -> (nanoseconds: Double, allocations: Double) {
        let rounds = 200_000 / (chain.count + 10)
        var costs: [Double] = []
        var allocations = 0.0
        for _ in 0..<11 {
            let empty = try await authorize(NetworkProvider(session: UnreachableTransport()), rounds)
            let full = try await authorize(
                NetworkProvider(session: UnreachableTransport(), interceptor: InterceptorChain(chain)), rounds)
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
