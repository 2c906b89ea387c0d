internal import NevodPluginKit
internal import NevodSupport

/// A part of a `when` line: a fact about the request, possibly negated. Whether a setting is given is known before any request, so
/// it isn't a clause.
struct Clause: Sendable, Equatable {
    enum Fact: Sendable, Equatable {
        /// Names, each followed by a line feed.
        case method(Range<Int>)
        case body, query, form, json
        case header(Range<Int>)
        case path(Range<Int>)
    }

    let fact: Fact
    let isNegated: Bool

    static let names: [String] = [
        "method NAME …", "body", "query", "form", "json", "header NAME", "path PREFIX", "key", "passphrase", "token", "memo",
    ]
}

// Reads the conditions of `when` lines.
extension RecipeReader {
    /// The limit on conditions, because the checks go through each combination.
    private static let mostConditions = 6

    /// The index of the condition with these clauses. Lines with the same clauses share one condition.
    mutating func index(of clauses: [Clause], _ line: TemplateText) throws(RecipeError) -> Int {
        for (index, range) in recipe.conditions.enumerated() where areEqual(Array(recipe.clauses[range]), clauses) {
            return index
        }
        guard recipe.conditions.count < Self.mostConditions else {
            throw line.error("more than \(Self.mostConditions) different conditions")
        }
        recipe.clauses += clauses
        recipe.conditions.append(recipe.clauses.count - clauses.count..<recipe.clauses.count)
        return recipe.conditions.count - 1
    }

    /// Compares the texts of clauses, because each line stores its own copy.
    private func areEqual(_ left: [Clause], _ right: [Clause]) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { left, right in
                guard left.isNegated == right.isNegated else { return false }
                switch (left.fact, right.fact) {
                case (.method(let left), .method(let right)), (.header(let left), .header(let right)),
                    (.path(let left), .path(let right)):
                    return recipe.bytes[left].elementsEqual(recipe.bytes[right])
                default: return left.fact == right.fact
                }
            }
    }

    enum Condition {
        case fact(Clause)
        /// Decided by the settings.
        case known(Bool)
    }

    mutating func condition(_ words: [ArraySlice<UInt8>], _ line: TemplateText) throws(RecipeError) -> Condition {
        var words = words[...]
        let isNegated = words.first.map { $0.elementsEqual("not".utf8) } ?? false
        if isNegated { words = words.dropFirst() }
        let name = words.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let arguments = Array(words.dropFirst())
        let fact: Clause.Fact
        switch (name, arguments.count) {
        case ("method", 1...):
            // Methods are compared with letter case (RFC 9110 §9.1).
            if let word = arguments.first(where: { $0.contains { $0.isLowercase } }) {
                throw line.error("a method is written in capital letters", at: word.startIndex)
            }
            fact = .method(store(arguments.flatMap { $0 + [UInt8(ascii: "\n")] }))
        case ("body", 0): fact = .body
        case ("query", 0): fact = .query
        case ("form", 0): fact = .form
        case ("json", 0): fact = .json
        case ("header", 1):
            guard TemplateReader.isHeaderName(Array(arguments[0])) else {
                throw line.error("a header's name has letters, digits and hyphens (RFC 9110 §5.6.2)", at: arguments[0].startIndex)
            }
            fact = .header(store(Array(arguments[0])))
        case ("path", 1): fact = .path(store(Array(arguments[0])))
        case ("key", 0): return .known(isGiven(.key) != isNegated)
        case ("passphrase", 0): return .known(isGiven(.passphrase) != isNegated)
        case ("token", 0): return .known(isGiven(.token) != isNegated)
        case ("memo", 0): return .known(isGiven(.memo) != isNegated)
        default:
            throw line.error(
                "an unknown condition, \"\(String(decoding: Array(words.joined(separator: [0x20])), as: UTF8.self))\"; use one of "
                    + Clause.names.joined(separator: ", ") + ", or \"not\" and one of them", at: words.first?.startIndex)
        }
        return .fact(Clause(fact: fact, isNegated: isNegated))
    }
}

// Decides which conditions a request meets.
extension Signer {
    /// A bit for each condition of the recipe.
    func facts(of request: borrowing RequestView) throws(SchemeError) -> UInt {
        guard !recipe.conditions.isEmpty else { return 0 }
        var facts: UInt = 0
        for (index, clauses) in recipe.conditions.enumerated() {
            var isTrue = true
            for clause in clauses where isTrue { isTrue = self.isTrue(recipe.clauses[clause], request) }
            if isTrue { facts |= 1 << index }
        }
        return facts
    }

    private func isTrue(_ clause: Clause, _ request: borrowing RequestView) -> Bool {
        let isTrue: Bool
        switch clause.fact {
        case .method(let names):
            isTrue = recipe.bytes[names].split(separator: UInt8(ascii: "\n")).contains { Self.areEqual(request.method, $0) }
        case .body: isTrue = request.hasBody
        case .query: isTrue = !request.query.isEmpty
        case .form: isTrue = Self.hasMediaType("application/x-www-form-urlencoded", request)
        case .json: isTrue = Self.hasMediaType("application/json", request)
        case .header(let name): isTrue = contains(header: recipe.bytes[name], request)
        case .path(let prefix):
            let path = request.path
            isTrue = path.count >= prefix.count && Self.areEqual(path.extracting(first: prefix.count), recipe.bytes[prefix])
        }
        return isTrue != clause.isNegated
    }

    /// Whether the body is of a media type, whatever its parameters.
    private static func hasMediaType(_ type: StaticString, _ request: borrowing RequestView) -> Bool {
        let type = UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        var isOfType = false
        request.forEachHeader { line, value in
            guard areSameName(line, Array("content-type".utf8)[...]) else { return }
            var end = 0
            while end < value.count, value[end] != UInt8(ascii: ";"), !value[end].isBlank { end += 1 }
            isOfType = areSameName(value.extracting(first: end), Array(type)[...])
        }
        return isOfType
    }
}
