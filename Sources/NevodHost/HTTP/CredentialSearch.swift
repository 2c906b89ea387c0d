internal import NevodSupport

/// Finds credentials of a request's query in a text that a server chose, such as the location of a redirect. Recognizes them
/// unencoded, percent-encoded up to three times (as in a URL within a URL), and in base64 of either alphabet. Takes time linear
/// in the length of the text.
package struct CredentialSearch: Sendable {
    private struct Needle: Sendable, Hashable {
        let bytes: [UInt8]
        /// Whether a match counts only where a name can begin, because the bytes would match unrelated text elsewhere.
        let beginsName: Bool
    }

    private var needles: [Needle] = []

    /// A shorter value would match unrelated text, so it is searched for only together with its name.
    private static let shortestValue = 8
    /// The number of credentials that are remembered. A chain has at most 51 attempts and redirects.
    private static let mostNeedles = 512

    package init() {}

    package var isEmpty: Bool { needles.isEmpty }

    /// Adds the items that a token or scheme wrote.
    package mutating func add(_ request: HTTPRequest) {
        for item in request.credentialQueryItems { add(queryItem: item) }
    }

    /// - Parameter item: `name=value`, or a value alone, percent-decoded.
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
        return EncodedText.decodings(of: Array(text)).contains { level in
            holds(level)
                || EncodedText.base64Runs(in: level).contains { EncodedText.decodings(of: $0).contains(where: holds) }
        }
    }

    private func holds(_ text: [UInt8]) -> Bool {
        let text = text.map(Self.folded)
        return needles.contains { needle in
            var position = 0
            while let start = text.firstRange(of: needle.bytes, from: position) {
                guard needle.beginsName, start > 0, text[start - 1].isUnreserved else { return true }
                position = start + 1
            }
            return false
        }
    }

    /// A plus sign may mean a space (application/x-www-form-urlencoded).
    private static func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte }
}

extension [UInt8] {
    /// Returns where another text begins in this one. Uses the algorithm of Knuth, Morris and Pratt, so that a server that knows
    /// the text can't make the search slow.
    fileprivate func firstRange(of wanted: [UInt8], from start: Int) -> Int? {
        guard !wanted.isEmpty, count >= wanted.count else { return nil }
        // For each prefix, the length of the longest shorter prefix that it ends with.
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
