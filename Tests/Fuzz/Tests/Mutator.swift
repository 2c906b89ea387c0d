import NevodTestSupport

/// Makes inputs from a corpus. The same seed gives the same inputs.
struct Mutator {
    /// A change to an input.
    enum Change: CaseIterable {
        case bit, byte, insertion, deletion, end, repetition, move, splice, piece, token, replacement, number
    }

    /// As in scripts/fuzz.
    static let largest = 4096

    private let corpus: [[UInt8]]
    private let tokens: [[UInt8]]
    private var random: SeededRandom
    /// The changes that made the last input, for the tests of this type.
    private(set) var changes: [Change] = []

    /// - Parameter tokens: words of the format, from a dictionary.
    init(_ corpus: [[UInt8]], tokens: [[UInt8]], seed: UInt64) {
        self.corpus = corpus.isEmpty ? [[]] : corpus
        self.tokens = tokens
        random = SeededRandom(seed: seed)
    }

    mutating func next() -> [UInt8] {
        var input = pick(corpus)
        changes = []
        // Mostly few changes, because an input with many faults is rejected at the first one.
        repeat { change(&input) } while changes.isEmpty || number(below: 2) == 0
        return Array(input.prefix(Self.largest))
    }

    private mutating func change(_ input: inout [UInt8]) {
        let change = pick(Change.allCases)
        let place = number(below: input.count + 1)
        switch change {
        case .bit where place < input.count: input[place] ^= 1 << number(below: 8)
        case .byte where place < input.count: input[place] = byte()
        case .insertion: input.insert(contentsOf: (0...number(below: 4)).map { _ in byte() }, at: place)
        case .deletion where place < input.count: input.removeSubrange(range(in: input))
        case .end: input.removeSubrange(place...)
        case .repetition where !input.isEmpty:
            let part = input[range(in: input)]
            let count = 1 + number(below: pick([2, 8, 64]))
            input.insert(contentsOf: (0..<count).flatMap { _ in part }.prefix(Self.largest), at: place)
        case .move where !input.isEmpty:
            let range = range(in: input)
            let part = Array(input[range])
            input.removeSubrange(range)
            input.insert(contentsOf: part, at: number(below: input.count + 1))
        case .splice:
            let other = pick(corpus)
            input = Array(input[..<place] + other[number(below: other.count + 1)...])
        case .piece:
            let other = pick(corpus)
            guard !other.isEmpty else { return }
            input.insert(contentsOf: other[range(in: other)], at: place)
        case .token where !tokens.isEmpty: input.insert(contentsOf: pick(tokens), at: place)
        case .replacement where !tokens.isEmpty && place < input.count:
            input.replaceSubrange(range(in: input), with: pick(tokens))
        case .number:
            guard let digits = digits(in: input, from: place) else { return }
            input.replaceSubrange(digits, with: pick(Self.numbers).utf8)
        // This change has no place, or there is no token.
        default: return
        }
        changes.append(change)
    }

    /// Numbers around the bounds of integers, and texts that are easily misread as numbers.
    private static let numbers = [
        "0", "-1", "1", "00", "127", "128", "255", "256", "32768", "65535", "65536", "2147483647", "2147483648", "4294967295",
        "4294967296", "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616", "-9223372036854775808", "1e999", "0.5", "99999999999999999999999999",
    ]

    /// Bytes that parsers look for. They are as frequent as all others together.
    private static let delimiters = Array("\0\t\n\r \"#%&'()*+,-./:;<=>?@[\\]^_`{|}~\u{7F}".utf8) + [0x80, 0xC2, 0xF0, 0xFF]

    private mutating func byte() -> UInt8 {
        number(below: 2) == 0 ? pick(Self.delimiters) : UInt8(number(below: 256))
    }

    /// The first digits at or after an offset, or else the first digits of all.
    private func digits(in input: [UInt8], from place: Int) -> Range<Int>? {
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard let start = input[place...].firstIndex(where: isDigit) ?? input.firstIndex(where: isDigit) else { return nil }
        return start..<(input[start...].firstIndex { !isDigit($0) } ?? input.endIndex)
    }

    /// A range that isn't empty, mostly a short one.
    private mutating func range(in bytes: [UInt8]) -> Range<Int> {
        let start = number(below: bytes.count)
        let longest = min(bytes.count - start, pick([4, 16, Self.largest]))
        return start..<start + 1 + number(below: longest)
    }

    private mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(below: elements.count)] }
}
