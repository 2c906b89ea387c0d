import Testing

struct MutatorTests {
    private static let corpus = [Array("{\"a\": 12}".utf8), Array("second".utf8), [0xFF]]
    private static let token = Array("<token>".utf8)

    private func mutator(_ seed: UInt64 = 1) -> Mutator { Mutator(Self.corpus, tokens: [Self.token], seed: seed) }

    private func inputs(_ mutator: Mutator, _ count: Int = 1000) -> [[UInt8]] {
        var mutator = mutator
        return (0..<count).map { _ in mutator.next() }
    }

    @Test func `A seed makes the same inputs again, and another seed makes others`() {
        #expect(inputs(mutator(1)) == inputs(mutator(1)))
        #expect(Set(inputs(mutator(1))).intersection(inputs(mutator(2))).count < 300)
    }

    @Test func `Most inputs differ from each other and from the corpus`() {
        #expect(Set(inputs(mutator())).subtracting(Self.corpus).count > 700)
    }

    @Test func `Each kind of change occurs about as often as the others`() {
        var mutator = mutator()
        var counts: [Mutator.Change: Int] = [:]
        for _ in 0..<5000 {
            _ = mutator.next()
            for change in mutator.changes { counts[change, default: 0] += 1 }
        }
        for change in Mutator.Change.allCases { #expect(counts[change, default: 0] > 200, "\(change)") }
    }

    @Test func `Parts of two inputs, tokens and large numbers are in an input`() {
        let texts = inputs(mutator(), 5000).map { String(decoding: $0, as: UTF8.self) }
        #expect(texts.contains { $0.hasPrefix("{\"a\"") && $0.hasSuffix("ond") })
        #expect(texts.contains { $0.contains("<token>") && $0.hasPrefix("{") && $0.hasSuffix("}") })
        #expect(texts.contains("{\"a\": 9223372036854775808}"))
        #expect(texts.contains(""))
    }

    @Test func `No input is larger than a fuzzer gets in scripts/fuzz`() {
        let large = Mutator([Array(repeating: 0x61, count: 5000)], tokens: [Self.token], seed: 1)
        #expect(inputs(large).allSatisfy { $0.count <= 4096 })
        #expect(inputs(mutator()).contains { $0.count > 200 })
    }

    @Test func `Without a corpus or tokens there are inputs, too`() {
        #expect(Set(inputs(Mutator([], tokens: [], seed: 1))).count > 100)
        #expect(Set(inputs(Mutator([[]], tokens: [], seed: 1))).count > 100)
    }

    @Test func `Lines of a dictionary are read as libFuzzer reads them`() throws {
        #expect(try Corpus.token(#""a\x0a\xFF\\\"b""#) == [0x61, 0x0A, 0xFF, 0x5C, 0x22, 0x62])
        for line in ["", "\"", "a", #""\x0""#, #""\n""#, #""\""#] as [Substring] {
            #expect(throws: Corpus.InvalidToken.self) { try Corpus.token(line) }
        }
    }
}
