import NevodHost

/// Suggests known words for an unknown one.
enum Suggestions {
    /// Returns the end of a message, such as `; did you mean --header?`; empty if no candidate is similar.
    static func hint(for word: String, among candidates: [String], prefix: String = "") -> String {
        let near = nearest(to: word, among: candidates).map { prefix + $0 }
        guard let last = near.last else { return "" }
        return "; did you mean \(near.count == 1 ? last : near.dropLast().joined(separator: ", ") + " or " + last)?"
    }

    /// Returns the hint for a long flag of a command, given without its dashes.
    static func hint(forFlag word: String, of command: Command) -> String {
        let names = Flag.flags(of: command).map(\.long)
        let near = hint(for: word, among: names, prefix: "--")
        guard near.isEmpty, word.hasPrefix("no-") else { return near }
        return hint(for: String(word.dropFirst(3)), among: names, prefix: "--no-")
    }

    /// Returns the most similar candidates: at most three that are equally similar, in their order.
    static func nearest(to word: String, among candidates: [String]) -> [String] {
        let bytes = folded(word)
        // Computing the distance takes quadratic time, and longer words are not typos.
        guard !bytes.isEmpty, bytes.count <= 64 else { return [] }
        // One typo per three letters. A larger limit would find a candidate for every word.
        let limit = min(3, max(1, bytes.count / 3))
        let scored = candidates.compactMap { candidate in
            let other = folded(candidate)
            let isAbbreviation = bytes.count >= 2 && other.starts(with: bytes)
            let score = isAbbreviation ? min(1, other.count - bytes.count) : distance(bytes, other, limit: limit)
            // A single letter is one typo away from every other letter.
            return score <= limit && score < max(bytes.count, other.count) ? (candidate, score) : nil
        }
        guard let best = scored.map(\.1).min() else { return [] }
        return Array(scored.filter { $0.1 == best }.map(\.0).prefix(3))
    }

    /// Counts letters inserted, deleted, replaced, or swapped with their neighbours: the Damerau-Levenshtein distance, in the
    /// variant that edits no letter twice. Returns the difference of the lengths if that alone exceeds `limit`.
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

    /// Ignores case, and treats an underscore as a hyphen: `Max_Time` becomes `max-time`.
    private static func folded(_ word: String) -> [UInt8] {
        word.lowercased().utf8.map { $0 == UInt8(ascii: "_") ? UInt8(ascii: "-") : $0 }
    }
}

/// Suggests installed plugins for a name that isn't found in the plugin folders.
enum PluginSuggestion {
    /// Returns text for the end of an error; empty for a path, or if no plugins are found.
    static func hint(for error: any Error) -> String {
        guard let error = error as? PluginError, case .notFound = error.reason, !error.plugin.contains("/") else { return "" }
        return hint(for: error.plugin, among: PluginLocator.standard.shortNames)
    }

    static func hint(for name: String, among found: [String]) -> String {
        guard !found.isEmpty else { return "" }
        let near = Suggestions.hint(for: PluginLocator.shortName(of: name), among: found)
        return near.isEmpty ? "; found: \(found.prefix(most).joined(separator: ", "))" : near
    }

    /// More names would hide the error.
    private static let most = 20
}

extension Arguments {
    /// Returns warnings about words that are valid but probably not meant that way. Checks only typed words: a profile's flags
    /// have been used before.
    func warnings() -> [String] {
        var warnings = fileWarnings + typed.compactMap(swallowedFlag)
        if let method = value(.method), method != method.uppercased(), Completions.methods.contains(method.uppercased()) {
            warnings.append("the method \(method) is sent as typed; servers expect \(method.uppercased())")
        }
        let json = values(.jsonData)
        let text = json.joined()
        if !text.isEmpty, !json.contains(where: { $0.hasPrefix("@") }),
            JSONFormatter(inColour: false).format(Array(text.utf8)) == nil
        {
            warnings.append(
                "the text of --json is not valid JSON, and is sent as typed; put it in single quotes, or in a file: --json @FILE")
        }
        return warnings
    }

    /// Warns about a value that looks like the next flag, as in `-o -L`: the file name was probably forgotten.
    private func swallowedFlag(_ given: (name: Flag.Name, value: String)) -> String? {
        guard given.value.hasPrefix("-"), let flag = Flag.all.first(where: { $0.name == given.name }), let value = flag.value,
            [.file, .folder, .plugin, .profile, .url].contains(value.kind),
            Flag.all.contains(where: { $0.spellings.contains(given.value) })
        else { return nil }
        let spelling = flag.spellings.last ?? ""
        return
            "\(spelling) took \(given.value) for its \(value.placeholder); write \(spelling) \(value.placeholder) \(given.value)"
    }
}
