import Glibc
import NevodHost

/// Breaks texts into lines of a terminal's width, with hanging indents.
struct TextLayout {
    /// The columns of a line.
    let width: Int

    /// Longer lines are hard to read.
    private static let widest = 110
    private static let narrowest = 40
    private static let indent = 2

    init(width: Int) {
        self.width = min(max(width, Self.narrowest), Self.widest)
    }

    /// The width of standard output: `COLUMNS`, or else what the terminal reports; 80 without a terminal.
    static var ofOutput: TextLayout {
        guard isatty(STDOUT_FILENO) == 1 else { return TextLayout(width: 80) }
        let given = environment("COLUMNS").flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        return TextLayout(width: given ?? TerminalSize.columns(of: STDOUT_FILENO))
    }

    /// Sets terms in a column, and their meanings beside them. A term that is too long for the column gets its own line.
    ///
    /// - Parameters:
    ///   - widest: the length of the longest term that may widen the column.
    ///   - wrapsTerms: whether a term may be broken. A command line to be pasted may not.
    func definitions(_ list: [(String, String)], widest: Int = 30, wrapsTerms: Bool = false) -> String {
        let limit = min(widest, width / 2 + 14)
        let column = list.map(\.0.count).filter { $0 <= limit }.max() ?? limit
        let start = Self.indent + column + 2
        return list.map { term, meaning in
            let line =
                wrapsTerms && term.count > column
                ? paragraph(term, hanging: Self.indent) : String(repeating: " ", count: Self.indent) + term
            guard !meaning.isEmpty else { return line }
            // A narrow column of text beside long terms would be hard to read.
            guard width - start >= 20 else { return line + "\n" + paragraph(meaning, indent: 8) }
            let text = paragraph(meaning, indent: start)
            return term.count > column ? line + "\n" + text : line + text.dropFirst(line.count)
        }.joined(separator: "\n")
    }

    /// Wraps a text at its spaces. A word longer than a line stays whole, since it may be an address or a path.
    func paragraph(_ text: String, indent: Int = 0) -> String {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        for source in text.split(separator: "\n", omittingEmptySubsequences: false) {
            var line = ""
            for word in source.split(separator: " ") {
                if !line.isEmpty, indent + line.count + 1 + word.count > width {
                    lines.append(margin + line)
                    line = ""
                }
                line += (line.isEmpty ? "" : " ") + word
            }
            lines.append(line.isEmpty ? "" : margin + line)
        }
        return lines.joined(separator: "\n")
    }

    /// Indents a synopsis. Two or more spaces in a line separate a form from its explanation, which is set beside it or below it.
    func lines(_ synopsis: String) -> String {
        let pairs = synopsis.split(separator: "\n").map { line -> (String, String) in
            guard let gap = line.firstRange(of: "  ") else { return (String(line), "") }
            return (String(line[..<gap.lowerBound]), String(line[gap.upperBound...].drop { $0 == " " }))
        }
        return pairs.allSatisfy { $0.1.isEmpty }
            ? pairs.map { paragraph($0.0, hanging: Self.indent) }.joined(separator: "\n")
            : definitions(pairs, widest: 46, wrapsTerms: true)
    }

    /// Wraps a text with a hanging indent.
    private func paragraph(_ text: String, hanging indent: Int) -> String {
        let lines = TextLayout(width: width - 4).paragraph(text, indent: indent).split(separator: "\n")
        return lines.enumerated().map { $0 == 0 ? String($1) : "    \($1)" }.joined(separator: "\n")
    }
}
