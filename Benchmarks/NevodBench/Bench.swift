import Glibc

/// Measures NevodHost and its peers alternately within one run, and prints ratios. See Benchmarks/README.md.
@main
struct Bench {
    static func main() async throws {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case "authorize": try AuthorizeBench().run()
        case "bearer": try OAuth2Bench().run()
        case "count":
            try AuthorizeBench().count()
            try OAuth2Bench().count()
            try await InterceptorBench().count()
        case "spin": try AuthorizeBench().spin(words.count > 1 ? words[1] : "", Int(words.last ?? "") ?? 0)
        case "interceptors": try await InterceptorBench().run()
        case "jwt": try JWTBench().run()
        case "contention": ContentionBench().run()
        case "perform":
            try await PerformBench(url: words.count > 1 ? words[1] : "", script: words.count > 2 ? words[2] : "").run()
        case "spin-perform":
            let numbers = words.compactMap { Int($0) }
            if words.count == 4, numbers.count == 2 {
                try await PerformBench(url: words[1], script: "").spin(numbers[0], numbers[1])
            }
        case "blocking": try await BlockingBench(url: words.count > 1 ? words[1] : "").run()
        case "storm": try await StormBench(url: words.count > 1 ? words[1] : "").run()
        case "session": try await SessionBench(url: words.count > 1 ? words[1] : "").run()
        case "cache":
            try await CacheBench(url: words.count > 1 ? words[1] : "", folder: words.count > 2 ? words[2] : "").run()
        case "storage": try await StorageBench(folder: words.count > 1 ? words[1] : "").run()
        case "start": try StartBench(url: words.count > 1 ? words[1] : "").run()
        default:
            print(
                """
                usage: nevod-bench authorize | bearer | interceptors | jwt | contention | session URL |
                       perform URL SCRIPT | storm URL | blocking URL | start URL | storage FOLDER |
                       cache URL FOLDER
                       nevod-bench count | spin CASE N | spin-perform URL CONCURRENCY N
                """)
            exit(2)
        }
    }
}

/// Returns the monotonic time in seconds.
func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

func rounded(_ value: Double, _ digits: Int) -> String {
    let factor = pow(10, Double(digits))
    let scaled = (value * factor).rounded() / factor
    let text = "\(scaled)"
    let decimals = text.split(separator: ".").last?.count ?? 0
    return digits == 0 ? String(Int(scaled)) : text + String(repeating: "0", count: max(0, digits - decimals))
}

/// Prints a row of a Markdown table.
func row(_ cells: [String]) {
    print("| " + cells.joined(separator: " | ") + " |")
}
