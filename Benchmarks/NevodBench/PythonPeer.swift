import Foundation

/// A client in Debian's Python, in a separate process that stays warm between rounds.
final class PythonPeer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let isInstalled: Bool

    /// - Parameter kind: `httpx` or `requests`. If it isn't installed, it prints that on standard error, and has no rate.
    init(_ script: String, _ kind: String, _ url: String, _ concurrency: Int) throws {
        process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
        process.arguments = [script, kind, url, String(concurrency)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        isInstalled = Self.line(output) == "ready"
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// Returns the requests per second; NaN if the client isn't installed.
    func rate(_ requests: Int) throws -> Double {
        guard isInstalled else { return .nan }
        try input.fileHandleForWriting.write(contentsOf: Data("\(requests)\n".utf8))
        guard let line = Self.line(output), let seconds = Double(line) else {
            throw BenchError(description: "the Python peer ended")
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
