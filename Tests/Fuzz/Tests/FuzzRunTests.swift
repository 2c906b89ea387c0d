import Glibc
import NevodTestSupport
import Testing

/// Tests what a run does with faulty parsers.
@Suite(.blocking) struct FuzzRunTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func findings(_ fuzzer: Fuzzer, rounds: Int = 1000) throws -> [FuzzRun.Finding] {
        let corpus = Corpus(files: [("first", Array("abc".utf8)), ("second", Array("12".utf8))], tokens: [Array("token".utf8)])
        return try FuzzRun(fuzzer, corpus, keepingIn: folder.path).findings(seed: 4, rounds: rounds)
    }

    @Test func `A rule that a file of the corpus breaks is reported with the file`() throws {
        let fuzzer = Fuzzer("faulty") { input in
            expect(input.text != "12", "nothing is twelve")
            expect(input.text != "12", "nothing is a dozen")
        }
        let finding = try #require(try findings(fuzzer, rounds: 0).first)
        #expect(finding.rules == ["nothing is twelve", "nothing is a dozen"])
        #expect(
            finding.description.hasPrefix(
                """
                faulty: broken rule: nothing is twelve; nothing is a dozen
                by the file second of its corpus, which is in \(finding.path), and in Base64: MTI=

                """))
        #expect(try contents(of: finding.path) == Array("12".utf8))
    }

    @Test func `A rule that a made input breaks is reported once, with its seed, and broken again by what is kept`() throws {
        let fuzzer = Fuzzer("faulty") { input in
            expect(!input.text.contains("token"), "no input has the token")
        }
        let found = try findings(fuzzer)
        let finding = try #require(found.first)
        #expect(found.count == 1)
        #expect(finding.origin.hasSuffix(" of NEVOD_FUZZ_SEED=4"))
        #expect(try contents(of: finding.path) == finding.input)
        #expect(String(decoding: finding.input, as: UTF8.self).contains("token"))
        #expect(try findings(fuzzer).map(\.input) == [finding.input])
    }

    @Test func `A rule that is broken in a task is reported`() throws {
        let fuzzer = Fuzzer("faulty") { input in
            let (text, done) = (input.text, Latch())
            Task {
                expect(text != "abc", "a store holds")
                done.set()
            }
            done.waitOnThread()
        }
        #expect(try findings(fuzzer, rounds: 0).map(\.rules) == [["a store holds"]])
    }

    @Test func `Without a faulty parser there is nothing to report, and nothing is kept`() throws {
        #expect(try findings(Fuzzer("fine") { expect($0.bytes.count >= 0, "a size isn't negative") }).isEmpty)
        #expect(throws: (any Error).self) { try contents(of: "\(folder.path)/fine-current") }
    }

    @Test func `An input that ends the process is kept, and is the first of the next run`() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = folder.path as String] in
            let fuzzer = Fuzzer("faulty") { if $0.text == "12" { kill(getpid(), SIGKILL) } }
            let corpus = Corpus(files: [("first", Array("abc".utf8)), ("second", Array("12".utf8))], tokens: [])
            _ = try FuzzRun(fuzzer, corpus, keepingIn: path).findings(seed: 4, rounds: 0)
        }
        #expect(try contents(of: "\(folder.path)/faulty-current") == Array("12".utf8))
        let fuzzer = Fuzzer("faulty") { expect($0.text != "12", "nothing is twelve") }
        #expect(
            try findings(fuzzer, rounds: 0).map(\.origin) == [
                "the input at which the last run ended", "the file second of its corpus",
            ])
        #expect(try findings(fuzzer, rounds: 0).count == 1)
    }

    #if NEVOD_ADDRESS_SANITIZER
        @Test(arguments: [[], [1], [1, 2, 3], Array(repeating: 7, count: 64)])
        func `A read before or behind an input is one that AddressSanitizer sees`(_ bytes: [UInt8]) throws {
            let symbol = try #require(dlsym(nil, "__asan_address_is_poisoned"))
            let isPoisoned = unsafeBitCast(symbol, to: (@convention(c) (UnsafeRawPointer) -> CInt).self)
            ExactBlock(bytes).read { input in
                #expect(input.elementsEqual(bytes))
                guard let start = input.baseAddress else {
                    Issue.record("an input has no address")
                    return
                }
                #expect(isPoisoned(start + bytes.count) == 1)
                #expect(bytes.isEmpty || isPoisoned(start - 1) == 1)
                #expect(bytes.indices.allSatisfy { isPoisoned(start + $0) == 0 })
            }
        }
    #endif
}
