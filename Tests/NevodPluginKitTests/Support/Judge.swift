import Foundation
import NevodTestSupport

/// Python's verdicts, for comparison.
enum Judge {
    struct Failed: Error {
        let status: Int32
    }

    /// - Parameters:
    ///   - script: reads the list `cases`, and prints a list of verdicts with `tell`.
    static func python<Verdict: Decodable>(_ script: String, _ cases: [String], as verdict: Verdict.Type) throws -> [Verdict] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", "-c", "import json, sys\ncases = json.load(sys.stdin)\ndef tell(v): json.dump(v, sys.stdout)\n\(script)",
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: JSONEncoder().encode(cases))
        try input.fileHandleForWriting.close()
        let verdicts = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
        return try JSONDecoder().decode([Verdict].self, from: verdicts)
    }
}

extension SeededRandom {
    /// Returns up to `count` of the words, joined.
    mutating func text(of words: [String], upTo count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in words.randomElement(using: &self) ?? "" }.joined()
    }
}
