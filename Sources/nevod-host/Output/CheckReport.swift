import Glibc
import NevodPluginChecks
import NevodSupport

/// The results of `check` as text and as JSON.
struct CheckReport {
    let path: String
    let seed: Int
    private let inColour = isatty(STDOUT_FILENO) == 1 && getenv("NO_COLOR") == nil

    init(path: String, seed: Int) {
        self.path = path
        self.seed = seed
    }

    func begin() -> String { "checking \(TerminalText.safe(path)) (--seed \(seed))\n" }

    func write(_ outcome: Outcome) throws(OutputError) {
        let bytes = Array(text(outcome).utf8)
        // The text is safe already, and has colours.
        try FileDescriptor.standardOutput.write(bytes.span)
    }

    func text(_ outcome: Outcome) -> String {
        let scheme = outcome.scheme.map { " (\($0))" } ?? ""
        let note = outcome.note.isEmpty ? "" : ": \(TerminalText.safe(outcome.note))"
        var lines = ["\(mark(outcome.kind)) \(outcome.check.id)\(TerminalText.safe(scheme))\(note)"]
        if let finding = outcome.finding {
            lines.append("     expected: \(TerminalText.safe(finding.expected))")
            lines.append("     happened: \(TerminalText.safe(finding.happened))")
            lines.append("     fix:      \(TerminalText.safe(finding.fix))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    func end(_ outcomes: [Outcome]) -> String {
        let counts = Self.counts(outcomes).filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }
        return "\(counts.joined(separator: ", "))\n"
    }

    func json(_ outcomes: [Outcome]) -> JSON {
        .object([
            ("plugin", .string(path)), ("seed", .number(seed)),
            ("counts", .object(Self.counts(outcomes).map { ($0.name.replacing(" ", "_"), .number($0.count)) })),
            (
                "checks",
                .array(
                    outcomes.map { outcome in
                        .object([
                            ("id", .string(outcome.check.id)), ("title", .string(outcome.check.title)),
                            ("scheme", outcome.scheme.map(JSON.string) ?? .null), ("result", .string(outcome.kind.rawValue)),
                            ("note", .string(outcome.note)), ("milliseconds", .number(Int(outcome.nanoseconds / 1_000_000))),
                            ("expected", outcome.finding.map { .string($0.expected) } ?? .null),
                            ("happened", outcome.finding.map { .string($0.happened) } ?? .null),
                            ("fix", outcome.finding.map { .string($0.fix) } ?? .null),
                        ])
                    })
            ),
        ])
    }

    private static func counts(_ outcomes: [Outcome]) -> [(name: String, count: Int)] {
        let names: [(Outcome.Kind, String)] = [
            (.passed, "passed"), (.skipped, "skipped"), (.warned, "warnings"), (.failed, "failed"), (.crashed, "crashed"),
            (.timedOut, "timed out"),
        ]
        return names.map { kind, name in (name, outcomes.count { $0.kind == kind }) }
    }

    private func mark(_ kind: Outcome.Kind) -> String {
        guard inColour else { return kind.rawValue }
        let colour =
            switch kind {
            case .passed: "32"
            case .skipped: "2"
            case .warned: "33"
            case .failed, .crashed, .timedOut: "31"
            }
        return "\u{1B}[\(colour)m\(kind.rawValue)\u{1B}[0m"
    }
}

extension String {
    fileprivate func replacing(_ old: Character, _ new: Character) -> String { String(map { $0 == old ? new : $0 }) }
}

/// The table of checks that `check --list` prints.
enum CheckList {
    static func text(of checks: [Check]) -> String {
        let width = checks.map(\.id.count).max() ?? 0
        return checks.map { check in
            "\(check.id)\(String(repeating: " ", count: width - check.id.count + 2))\(check.title)\n"
        }.joined()
    }
}
