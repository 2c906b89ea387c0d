internal import NevodPluginKit
internal import NevodSupport

/// A sign in a response, such as `status:302 location:/home*`: conditions that must all hold.
struct Sign: Sendable {
    let conditions: [Condition]

    func holds(in answer: Answer) -> Bool {
        conditions.allSatisfy { $0.kind.holds(in: answer) != $0.isNegated }
    }

    private static let json = [
        "application/json", "application/problem+json", "application/vnd.api+json", "application/hal+json", "text/json",
    ]

    /// The types of successful responses, in addition to pages, that the conditions apply to. Empty if the conditions name other
    /// statuses.
    var types: [String] {
        if let statuses, !statuses.isEmpty, !statuses.contains(where: { (200...299).contains($0) }) { return [] }
        var types: [String] = []
        for condition in conditions {
            switch condition.kind {
            case .status, .field, .location: break
            case .body: types += Self.json + ["text/plain", "application/xml", "text/xml"]
            // Responses to programs are JSON, even if the condition is about a header or cookie.
            case .json, .header, .cookie, .deleted: types += Self.json
            }
        }
        return types
    }

    /// The fields of forms that the conditions look for.
    var fields: [String] {
        conditions.compactMap { if case .field(let name) = $0.kind { name } else { nil } }
    }

    /// The statuses that the sign names; nil if it names a class of them.
    var statuses: [Int]? {
        var statuses: [Int] = []
        for condition in conditions {
            guard case .status(let range) = condition.kind, !condition.isNegated else { continue }
            guard range.count == 1 else { return nil }
            statuses.append(range.lowerBound)
        }
        return statuses
    }

    struct Condition: Sendable {
        let isNegated: Bool
        let kind: Kind
    }

    enum Kind: Sendable {
        case status(ClosedRange<Int>)
        /// A cookie that the response sets to a new value.
        case cookie(Pattern)
        case deleted(Pattern)
        case location(Pattern, Part)
        case header(String, Pattern)
        /// A member that has a value. If no value is given, the member must be present, and not null or false.
        case json([String], String?)
        case body([UInt8])
        /// A field of one of the page's forms.
        case field(String)
    }

    /// The part of a redirect's address that a pattern applies to.
    enum Part: Sendable {
        case path, target, whole
    }
}

extension [Sign] {
    /// Whether any of the signs holds.
    func hold(in answer: Answer) -> Bool { contains { $0.holds(in: answer) } }
}

extension Sign.Kind {
    fileprivate func holds(in answer: Answer) -> Bool {
        switch self {
        case .status(let range): return range.contains(answer.status)
        case .cookie(let pattern): return answer.newCookies.contains { pattern.matches($0) }
        case .deleted(let pattern): return answer.deletedCookies.contains { pattern.matches($0) }
        case .location(let pattern, let part):
            guard let url = answer.location else { return false }
            switch part {
            case .path: return pattern.matches(url.path)
            case .target: return pattern.matches(url.target)
            case .whole: return pattern.matches(url.text)
            }
        case .header(let name, let pattern):
            return answer.headers.contains { $0.name.equalsIgnoringCase(name) && pattern.matches($0.value) }
        case .json(let path, let value):
            guard let member = answer.json?.member(at: path) else { return false }
            return value.map { member.asText?.equals($0) ?? false } ?? (member != .null && member != .bool(false))
        case .body(let text): return answer.body.withUnsafeBytes { $0.firstRange(ofBytes: text) != nil }
        case .field(let name): return answer.hasForm(with: [name])
        }
    }
}

extension JSONValue {
    /// The member at a path of names, and of numbers in arrays.
    func member(at path: [String]) -> JSONValue? {
        var value = self
        for name in path {
            guard let next = value[name] ?? Int(name).flatMap({ value[$0] }) else { return nil }
            value = next
        }
        return value
    }

    /// The value as text; nil for an array, an object, or null.
    var asText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): String(number)
        case .bool(let bool): bool ? "true" : "false"
        default: nil
        }
    }
}

/// A text with `*` for any bytes, including none.
struct Pattern: Equatable, Sendable {
    private let parts: [[UInt8]]

    init(_ text: String) {
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    func matches(_ text: String) -> Bool {
        guard let first = parts.first, let last = parts.last, text.utf8.starts(with: first) else { return false }
        guard parts.count > 1 else { return text.utf8.count == first.count }
        var rest = Array(text.utf8)[first.count...]
        for part in parts[1..<(parts.count - 1)] {
            guard let found = rest.firstRange(ofBytes: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.count >= last.count && rest.suffix(last.count).elementsEqual(last)
    }
}

extension RandomAccessCollection<UInt8> {
    /// The first range with these bytes, found in time proportional to the sum of both lengths (Knuth, Morris and Pratt).
    func firstRange(ofBytes bytes: [UInt8]) -> Range<Index>? {
        guard !bytes.isEmpty else { return startIndex..<startIndex }
        // For each length of a prefix: the length of the longest shorter prefix that it ends with.
        var shorter = [0]
        var length = 0
        for byte in bytes.dropFirst() {
            while length > 0, byte != bytes[length] { length = shorter[length - 1] }
            if byte == bytes[length] { length += 1 }
            shorter.append(length)
        }
        length = 0
        for position in indices {
            while length > 0, self[position] != bytes[length] { length = shorter[length - 1] }
            if self[position] == bytes[length] { length += 1 }
            if length == bytes.count {
                let end = index(after: position)
                return index(end, offsetBy: -length)..<end
            }
        }
        return nil
    }
}
