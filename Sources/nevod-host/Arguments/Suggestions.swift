/// What someone may have meant with a word that isn't known.
enum Suggestions {
    /// Text for the end of a message, `; did you mean --header?`; empty when nothing is near.
    static func hint(for word: String, among candidates: [String], prefix: String = "") -> String {
        let near = nearest(to: word, among: candidates).map { prefix + $0 }
        guard let last = near.last else { return "" }
        return "; did you mean \(near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last)?"
    }

    /// The same for a long flag of a command, given without its dashes.
    static func hint(forFlag word: String, of command: Command) -> String {
        hint(for: word, among: Flag.flags(of: command).map(\.long), prefix: "--")
    }

    /// The nearest candidates, at most three that are equally near, in their order.
    static func nearest(to word: String, among candidates: [String]) -> [String] {
        let bytes = folded(word)
        // Nobody mistypes that much, and the distance takes quadratic time.
        guard !bytes.isEmpty, bytes.count <= 64 else { return [] }
        // One slip in three letters: with more, something near is found for every word.
        let limit = min(3, max(1, bytes.count / 3))
        let scored = candidates.compactMap { candidate in
            let other = folded(candidate)
            let isAbbreviation = bytes.count >= 2 && other.starts(with: bytes)
            let score = isAbbreviation ? min(1, other.count - bytes.count) : distance(bytes, other, limit: limit)
            // A letter is one slip away from every other letter.
            return score <= limit && score < max(bytes.count, other.count) ? (candidate, score) : nil
        }
        guard let best = scored.map(\.1).min() else { return [] }
        return Array(scored.filter { $0.1 == best }.map(\.0).prefix(3))
    }

    /// Letters inserted, left out, replaced, or swapped with their neighbours: Damerau-Levenshtein, in the form that changes
    /// no letter twice. More than `limit` when the lengths alone say so.
    static func distance(_ first: [UInt8], _ second: [UInt8], limit: Int = .max) -> Int {
        guard abs(first.count - second.count) <= limit else { return abs(first.count - second.count) }
        var beforePrevious: [Int] = []
        var previous = Array(0...second.count)
        for row in 0..<first.count {
            var current = [row + 1]
            for column in 0..<second.count {
                let replaced = previous[column] + (first[row] == second[column] ? 0 : 1)
                var least = min(replaced, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    least = min(least, beforePrevious[column - 1] + 1)
                }
                current.append(least)
            }
            (beforePrevious, previous) = (previous, current)
        }
        return previous[second.count]
    }

    /// Without the differences that are no mistake in spelling: `Max_Time` is meant as `max-time`.
    private static func folded(_ word: String) -> [UInt8] {
        word.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    }
}
