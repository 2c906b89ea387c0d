import Foundation
import NevodSupport
import NevodTestSupport

/// Runs a fuzzer with the inputs of its corpus, and with inputs that a seed makes from them.
struct FuzzRun {
    /// An input that breaks rules.
    struct Finding: CustomStringConvertible {
        let fuzzer: String
        let rules: [String]
        let input: [UInt8]
        /// How the input came about.
        let origin: String
        let path: String

        var description: String {
            """
            \(fuzzer): broken rule: \(rules.joined(separator: "; "))
            by \(origin), which is in \(path), and in Base64: \(Data(input).base64EncodedString())
            Once mended, the input goes to Tests/Fuzz/Corpus/\(fuzzer) under a name that says what it is.
            """
        }
    }

    let fuzzer: Fuzzer
    let corpus: Corpus
    /// The folder for inputs that break a rule or end the process.
    let folder: String

    init(_ fuzzer: Fuzzer, _ corpus: Corpus, keepingIn folder: String) throws {
        (self.fuzzer, self.corpus, self.folder) = (fuzzer, corpus, folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Each input of the corpus that breaks a rule, and the first made input that does: most later ones would break the same
    /// rule.
    ///
    /// An input that ends the process stays in the folder, and comes first in the next run.
    func findings(seed: UInt64, rounds: Int) throws -> [Finding] {
        let current = "\(folder)/\(fuzzer.name)-current"
        let last = try? contents(of: current)
        let file = open(current, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Command.Failure(description: "can't write \(current)") }
        defer {
            close(file)
            unlink(current)
        }
        var findings: [Finding] = []
        func isFine(_ input: [UInt8], _ origin: String) throws -> Bool {
            guard pwrite(file, input, input.count, 0) == input.count, ftruncate(file, off_t(input.count)) == 0 else {
                throw Command.Failure(description: "can't write \(current)")
            }
            let rules = brokenRules(input)
            if rules.isEmpty { return true }
            let path = "\(folder)/\(fuzzer.name)-\(findings.count)-\(seed)"
            try Data(input).write(to: URL(fileURLWithPath: path))
            findings.append(Finding(fuzzer: fuzzer.name, rules: rules, input: input, origin: origin, path: path))
            return false
        }
        if let last { _ = try isFine(last, "the input at which the last run ended") }
        for file in corpus.files { _ = try isFine(file.bytes, "the file \(file.name) of its corpus") }
        // Fuzzers with similar corpora get different numbers.
        let ownSeed = fuzzer.name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        var mutator = Mutator(corpus.files.map(\.bytes), tokens: corpus.tokens, seed: ownSeed)
        for round in 0..<rounds {
            guard try isFine(mutator.next(), "input \(round) of NEVOD_FUZZ_SEED=\(seed)") else { break }
        }
        return findings
    }

    private func brokenRules(_ input: [UInt8]) -> [String] {
        let broken = Locked<[String]>([])
        let note: @Sendable (String) -> Void = { rule in broken.withLock { $0.append(rule) } }
        BrokenRule.$report.withValue(note) {
            ExactBlock(input).read { fuzzer.run(Input(bytes: $0)) }
        }
        return broken.withLock(\.self)
    }
}

/// A copy of bytes in memory of exactly their size, so that AddressSanitizer finds a read before or after them.
struct ExactBlock: ~Copyable {
    private let block: UnsafeMutableRawPointer
    private let bytes: UnsafeRawBufferPointer

    init(_ input: [UInt8]) {
        // The smallest block has one byte. An empty input is at its end.
        let size = max(input.count, 1)
        guard let block = malloc(size) else { fatalError("no memory for \(size) bytes") }
        input.withUnsafeBytes { block.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(block), byteCount: input.count) }
        self.block = block
        bytes = UnsafeRawBufferPointer(start: block + (size - input.count), count: input.count)
    }

    func read(_ body: (UnsafeRawBufferPointer) -> Void) { body(bytes) }

    deinit { free(block) }
}
