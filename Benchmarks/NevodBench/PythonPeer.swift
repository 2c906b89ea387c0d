import Foundation

/// A client in Debian's Python, in a process of its own that stays warm from round to round.
final class PythonPeer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let isThere: Bool

    /// - Parameter kind: `httpx` or `requests`. One that isn't installed says so on standard error, and has no rate.
    init(_ script: String, _ kind: String, _ url: String, _ concurrency: Int) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [script, kind, url, String(concurrency)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        isThere = Self.line(output) == "ready"
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Per second.
    func rate(_ requests: Int) throws -> Double {
        guard isThere else { return .nan }
        try input.fileHandleForWriting.write(contentsOf: Data("\(requests)\n".utf8))
        guard let line = Self.line(output), let seconds = Double(line) else {
            throw BenchError(description: "the peer in Python ended")
        }
        return Double(requests) / seconds
    }

    private static func line(_ pipe: Pipe) -> String? {
        var line = Data()
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1), !byte.isEmpty {
            if byte == Data("\n".utf8) { return String(decoding: line, as: UTF8.self) }
            line += byte
        }
        return nil
    }
}
