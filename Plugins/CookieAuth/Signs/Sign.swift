internal import NevodPluginKit
internal import NevodSupport

/// A sign that a response gives, such as `status:302 location:/home*`: conditions that must all hold.
struct Sign: Sendable {
    let conditions: [Condition]

    func holds(in answer: Answer) -> Bool {
        conditions.allSatisfy { $0.kind.holds(in: answer) != $0.isNegated }
    }

    private static let json = [
        "application/json", "application/problem+json", "application/vnd.api+json", "application/hal+json", "text/json",
    ]

    /// The types of successful responses beside pages that the conditions are for; none if they name other statuses.
    var types: [String] {
        if let statuses, !statuses.isEmpty, !statuses.contains(where: { (200...299).contains($0) }) { return [] }
        var types: [String] = []
        for condition in conditions {
            switch condition.kind {
            case .status, .field, .location: break
            case .body: types += Self.json + ["text/plain", "application/xml", "text/xml"]
            // Those of a response to a program, whatever its body says.
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
        /// A member that has a value; without one, it must be there, and neither null nor false.
        case json([String], String?)
        case body([UInt8])
        /// A field of one of the page's forms.
        case field(String)
    }

    /// The part of a redirect's address that a pattern is for.
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
