internal import NevodSupport

/// Finds credentials of a request's query in a text that a server chose, such as the location of a redirect: as they are, in a URL
/// within a URL that is percent-encoded up to three times, and in base64 of either alphabet. Takes time in proportion to the text.
package struct CredentialSearch: Sendable {
    private struct Needle: Sendable, Hashable {
        let bytes: [UInt8]
        /// Whether it is found only where a name can begin, since it is too short to be told from other text.
        let beginsName: Bool
    }

    private var needles: [Needle] = []

    /// A shorter value is searched for only together with its name: it would match unrelated text.
    private static let shortestValue = 8
    /// The credential's own encoding, and three around it.
    private static let mostEncodings = 4
    /// Shorter runs of base64 hold no credential.
    private static let shortestRun = 8
    /// The credentials of this many attempts and redirects are remembered; the chain has at most 51.
    private static let mostNeedles = 512

    package init() {}

    package var isEmpty: Bool { needles.isEmpty }

    /// Adds the items that a token or scheme wrote.
    package mutating func add(_ request: HTTPRequest) {
        for item in request.credentialQueryItems { add(queryItem: item) }
    }

    /// - Parameter item: decoded, with its name and an equals sign, or without both.
    mutating func add(queryItem item: [UInt8]) {
        guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return insert(item) }
        let value = Array(item[(equals + 1)...])
        guard !value.isEmpty else { return }
        insert(value.count < Self.shortestValue ? item : value)
    }

    private mutating func insert(_ bytes: [UInt8]) {
        guard !bytes.isEmpty, needles.count < Self.mostNeedles else { return }
        let needle = Needle(
            bytes: bytes.map(Self.folded), beginsName: bytes.count < Self.shortestValue || bytes.contains(UInt8(ascii: "=")))
        if !needles.contains(needle) { needles.append(needle) }
    }

    /// Whether a credential occurs in the text.
    package func isFound(in text: some Sequence<UInt8>) -> Bool {
        guard !needles.isEmpty else { return false }
        return Self.decodings(of: Array(text)).contains { level in
            holds(level) || Self.base64Runs(in: level).contains { run in Self.decodings(of: run).contains(where: holds) }
        }
    }

    private func holds(_ text: [UInt8]) -> Bool {
        let text = text.map(Self.folded)
        return needles.contains { needle in
            var position = 0
            while let start = text.firstRange(of: needle.bytes, from: position) {
                guard needle.beginsName, start > 0, Self.isNameByte(text[start - 1]) else { return true }
                position = start + 1
            }
            return false
        }
    }

    /// The text, and what it says after each round of percent-decoding.
    static func decodings(of text: [UInt8]) -> [[UInt8]] {
        var levels = [text]
        for _ in 0..<mostEncodings {
            guard let last = levels.last, last.contains(UInt8(ascii: "%")) else { break }
            // A plus sign is a letter of base64.
            let next = PercentEncoding.decoded(last, plusIsSpace: false)
            guard next.count < last.count else { break }
            levels.append(next)
        }
        return levels
    }

    /// The bytes of each run of base64, read from each of its first four letters: a run may begin with text that isn't base64, such as
    /// the segments of a path.
    static func base64Runs(in text: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var index = 0
        while index < text.count {
            let start = index
            while index < text.count, sextet(text[index]) != nil { index += 1 }
            if index - start >= shortestRun {
                for offset in 0..<4 { found.append(base64(text[(start + offset)..<index])) }
            }
            index += 1
        }
        return found
    }

    private static func base64(_ letters: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count * 3 / 4)
        var (bits, count): (UInt32, Int) = (0, 0)
        for letter in letters {
            bits = bits << 6 | UInt32(sextet(letter) ?? 0)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }

    /// The value of a letter in either alphabet (RFC 4648 §4, §5).
    private static func sextet(_ letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }

    /// A plus sign may stand for a space (application/x-www-form-urlencoded).
    private static func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}

extension [UInt8] {
    /// Returns where another text begins in this one (Knuth, Morris and Pratt): a server that knows the text can't make the search
    /// slow.
    fileprivate func firstRange(of wanted: [UInt8], from start: Int) -> Int? {
        guard !wanted.isEmpty, count >= wanted.count else { return nil }
        // For each prefix, the length of the longest shorter one that it ends with.
        var fallback = [Int](repeating: 0, count: wanted.count)
        var length = 0
        for index in wanted.indices.dropFirst() {
            while length > 0, wanted[index] != wanted[length] { length = fallback[length - 1] }
            if wanted[index] == wanted[length] { length += 1 }
            fallback[index] = length
        }
        var matched = 0
        for index in Swift.min(start, count)..<count {
            while matched > 0, self[index] != wanted[matched] { matched = fallback[matched - 1] }
            if self[index] == wanted[matched] { matched += 1 }
            if matched == wanted.count { return index + 1 - matched }
        }
        return nil
    }
}
