import Foundation
import NevodTestSupport
import Testing

/// The fuzzers with fewer inputs than in scripts/fuzz, and without its coverage, but in the other tests' build.
///
/// Only scripts/fuzz measures how a parser's time grows: unoptimized code copies what optimized code doesn't, and a sanitizer
/// makes each allocation slow.
@Suite(.blocking) struct FuzzTests {
    /// The same inputs in each run, so that a failure is the change's own fault. scripts/fuzz looks for others.
    private static let rounds = Rounds("FUZZ", default: 2000, seed: 902_539_670_995_775_561)

    /// These took two thirds of the total time: they make a store for each input, sign requests, or encode in 48 ways.
    private static let slow: Set = ["canonical", "export", "recipe-request", "rows"]

    /// The same places as in scripts/fuzz.
    private static let found = "\(repository)/.build/fuzz/found"

    private static let removesFolder: Bool = atexit { try? FileManager.default.removeItem(atPath: Folder.path) } == 0

    @Test(arguments: Fuzzer.all)
    func `Inputs of the corpus, and those that a seed makes of them, keep the rules`(_ fuzzer: Fuzzer) throws {
        #expect(Self.removesFolder)
        let run = try FuzzRun(fuzzer, Corpus(of: fuzzer.name), keepingIn: Self.found)
        let rounds = Self.slow.contains(fuzzer.name) ? Self.rounds.count / 8 : Self.rounds.count
        for finding in try run.findings(seed: Self.rounds.seed, rounds: rounds) { Issue.record("\(finding)") }
    }

    @Test(arguments: Fuzzer.all) func `A fuzzer has a corpus`(_ fuzzer: Fuzzer) throws {
        #expect(try !Corpus(of: fuzzer.name).files.isEmpty)
    }

    @Test func `A corpus and a dictionary have a fuzzer`() throws {
        // The helpers for C plugins have a separate program.
        let names = Set(Fuzzer.all.map(\.name) + ["helpers"])
        #expect(names.count == Fuzzer.all.count + 1)
        #expect(try Corpus.names.filter { !names.contains($0) } == [])
        #expect(try Corpus.dictionaries.filter { !names.contains($0) } == [])
    }
}

extension Fuzzer: CustomTestStringConvertible {
    var testDescription: String { name }
}
