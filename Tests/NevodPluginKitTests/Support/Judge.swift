import Foundation

/// An independent verdict: Python's.
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
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(status: process.terminationStatus) }
        return try JSONDecoder().decode([Verdict].self, from: answer)
    }
}

/// SplitMix64 with a fixed seed: the same numbers in each run.
struct Seeded: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Up to `count` of the words, concatenated.
    mutating func text(of words: [String], upTo count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in words.randomElement(using: &self) ?? "" }.joined()
    }
}
