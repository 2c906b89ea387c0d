import Glibc
import NevodHost
import NevodPluginChecks
import NevodSupport

/// The results of `check` as text and as JSON.
struct CheckReport {
    let path: String
    let seed: Int
    private let inColour = ColorChoice { environment($0) }.colors(isatty(STDOUT_FILENO) == 1)

    init(path: String, seed: Int) {
        self.path = path
        self.seed = seed
    }

    func begin() -> String { "checking \(TerminalText.safe(path)) (--seed \(seed))" }

    func write(_ outcome: Outcome) throws(OutputError) {
        let bytes = Array(text(outcome).utf8)
        // The text is safe already. A filter would escape its colours.
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
        Self.counts(outcomes).filter { $0.count > 0 }.map { "\($0.count) \($0.name)" }.joined(separator: ", ")
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

/// The results of `check` in JUnit's format, which CI services show: a suite for each category, a failure for FAIL, an error for
/// CRASHED and TIMED OUT.
struct JUnitReport {
    let path: String
    let seed: Int
    let outcomes: [Outcome]

    var text: String {
        var categories: [String] = []
        for outcome in outcomes where !categories.contains(outcome.check.category) { categories.append(outcome.check.category) }
        let suites = categories.map { category in suite(category, outcomes.filter { $0.check.category == category }) }
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites>
            \(suites.joined(separator: "\n"))
            </testsuites>

            """
    }

    private func suite(_ category: String, _ outcomes: [Outcome]) -> String {
        let failures = outcomes.count { $0.kind == .failed }
        let errors = outcomes.count { $0.kind == .crashed || $0.kind == .timedOut }
        let skipped = outcomes.count { $0.kind == .skipped }
        let time = seconds(outcomes.reduce(0) { $0 + $1.nanoseconds })
        let name = quoted("\(path): \(category)")
        return """
              <testsuite name=\(name) tests="\(outcomes.count)" failures="\(failures)" errors="\(errors)" skipped="\(skipped)" time="\(time)">
            \(outcomes.map(testCase).joined(separator: "\n"))
              </testsuite>
            """
    }

    private func testCase(_ outcome: Outcome) -> String {
        let name = outcome.check.id + (outcome.scheme.map { " (\($0))" } ?? "")
        let start =
            "    <testcase classname=\(quoted("nevod.\(outcome.check.category)")) name=\(quoted(name)) time=\"\(seconds(outcome.nanoseconds))\""
        let finding =
            outcome.finding.map { "expected: \($0.expected)\nhappened: \($0.happened)\nfix: \($0.fix)\nseed: \(seed)" } ?? ""
        let message = quoted(outcome.finding?.happened ?? outcome.note)
        switch outcome.kind {
        case .passed where outcome.note.isEmpty: return "\(start)/>"
        case .passed: return "\(start)><system-out>\(escaped(outcome.note))</system-out></testcase>"
        case .skipped: return "\(start)><skipped message=\(message)/></testcase>"
        case .warned: return "\(start)><system-out>\(escaped("warning\n\(finding)"))</system-out></testcase>"
        case .failed: return "\(start)><failure type=\"FAIL\" message=\(message)>\(escaped(finding))</failure></testcase>"
        case .crashed, .timedOut:
            return "\(start)><error type=\"\(outcome.kind.rawValue)\" message=\(message)>\(escaped(finding))</error></testcase>"
        }
    }

    private func seconds(_ nanoseconds: Int64) -> String {
        "\(nanoseconds / 1_000_000_000).\((nanoseconds / 1_000_000 % 1000).padded(to: 3))"
    }

    private func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

    /// Characters that XML 1.0 doesn't allow (§2.2) are written as text.
    private func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "\n": result += "&#10;"
            case _ where scalar.isUnsafeAtTerminal || scalar.value == 0xFFFE || scalar.value == 0xFFFF:
                result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
