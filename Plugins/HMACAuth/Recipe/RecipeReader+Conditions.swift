internal import NevodPluginKit
internal import NevodSupport

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

    /// Compares the texts of clauses, since each line stores its own.
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
