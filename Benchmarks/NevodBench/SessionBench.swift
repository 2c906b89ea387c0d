import CPeers
import Glibc
import NevodHost

/// Compares `CurlSession` with raw libcurl in C, in turns, with one warm client each.
struct SessionBench {
    let url: String
    private static let bodySize = 200
    private static let rounds = 11

    func run() async throws {
        row(["at a time", "libcurl, perform", "libcurl, epoll", "CurlSession", "÷ libcurl, perform", "÷ libcurl, epoll"])
        row(Array(repeating: "---", count: 6))
        for concurrency in [1, 16, 64] { try await measure(concurrency) }
    }

    private func measure(_ concurrency: Int) async throws {
        let requests = concurrency == 1 ? 3_000 : 12_000
        guard let perform = cpeers_libcurl_open(url, Int32(concurrency), Int32(CPEERS_LOOP_PERFORM), Self.bodySize),
            let epoll = cpeers_libcurl_open(url, Int32(concurrency), Int32(CPEERS_LOOP_SOCKET_ACTION), Self.bodySize)
        else { throw BenchError(description: "the libcurl peer can't start") }
        defer {
            cpeers_libcurl_close(perform)
            cpeers_libcurl_close(epoll)
        }
        let session = CurlSession()
        var rates: (perform: [Double], epoll: [Double], session: [Double]) = ([], [], [])
        for round in 0...Self.rounds {
            let count = round == 0 ? concurrency : requests
            let measured = (
                try rate(perform, count), try rate(epoll, count), try await rate(session, concurrency, count)
            )
            if round == 0 { continue }
            rates.perform.append(measured.0)
            rates.epoll.append(measured.1)
            rates.session.append(measured.2)
        }
        let ratio = { (below: [Double]) in rounded(median(zip(rates.session, below).map { $0 / $1 }), 2) }
        row([
            "\(concurrency)", perSecond(rates.perform), perSecond(rates.epoll), perSecond(rates.session),
            ratio(rates.perform), ratio(rates.epoll),
        ])
    }

    private func rate(_ client: OpaquePointer, _ requests: Int) throws -> Double {
        var seconds = 0.0
        let failure = cpeers_libcurl_measure(client, requests, &seconds)
        guard failure == 0 else { throw BenchError(description: "libcurl peer: \(failure)") }
        return Double(requests) / seconds
    }

    private func rate(_ session: CurlSession, _ concurrency: Int, _ requests: Int) async throws -> Double {
        var request = try HTTPRequest(.get, url)
        try request.setHeader("X-API-Key", "demo")
        try request.setHeader("X-Timestamp", "1700000000")
        try request.setHeader("X-Signature", String(repeating: "0", count: 64))
        let template = request
        let start = now()
        try await withTaskExecutorPreference(session.executor) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for worker in 0..<concurrency {
                    let share = requests / concurrency + (worker < requests % concurrency ? 1 : 0)
                    group.addTask {
                        let options = TransferOptions()
                        for _ in 0..<share {
                            let response = try await session.send(template, options)
                            guard response.status == 200, case .bytes(let body) = response.body, body.count == Self.bodySize
                            else {
                                throw BenchError(description: "unexpected response: status \(response.status)")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        return Double(requests) / (now() - start)
    }

    private func perSecond(_ values: [Double]) -> String {
        "\(rounded(median(values) / 1000, 1)) k/s"
    }
}

struct BenchError: Error, CustomStringConvertible {
    let description: String
}
