import Glibc

/// Measures cold start: a whole process for one small request, compared with curl.
struct StartBench {
    let url: String
    private static let rounds = 41

    func run() throws {
        let folder = String(CommandLine.arguments[0].reversed().drop { $0 != "/" }.reversed())
        let host = folder + "nevod-host"
        setenv("BENCH_SECRET", "0123456789abcdef", 1)
        let commands = [
            ("curl", ["curl", "-s", "-o", "/dev/null", url]),
            ("nevod-host", [host, "-s", "-o", "/dev/null", url]),
            (
                "nevod-host with libHMACAuth.so",
                [
                    host, "--plugin", folder + "libHMACAuth.so", "--set", "api-key=demo", "--set", "secret=env:BENCH_SECRET",
                    "-s", "-o", "/dev/null", url,
                ]
            ),
        ]
        var times = commands.map { _ in [Double]() }
        for round in 0...Self.rounds {
            for (index, command) in commands.enumerated() {
                let time = try seconds(command.1)
                if round > 0 { times[index].append(time) }
            }
        }
        row(["one request, one process", "median", "÷ curl"])
        row(["---", "---", "---"])
        for (index, command) in commands.enumerated() {
            let ratio = median(zip(times[index], times[0]).map { $0 / $1 })
            row([command.0, "\(rounded(median(times[index]) * 1000, 2)) ms", rounded(ratio, 2)])
        }
    }

    private func seconds(_ words: [String]) throws -> Double {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let start = now()
        var process = pid_t()
        guard posix_spawnp(&process, words[0], nil, nil, &arguments, environ) == 0 else {
            throw BenchError(description: "can't start \(words[0])")
        }
        var status: Int32 = 0
        waitpid(process, &status, 0)
        guard status == 0 else { throw BenchError(description: "\(words.joined(separator: " ")) ended with \(status >> 8)") }
        return now() - start
    }
}
