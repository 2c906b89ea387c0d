import NevodPluginChecks
import NevodSupport

/// The results of `check` in the format of JUnit, which CI services show: a suite for each category, a failure for FAIL, and an error
/// for CRASHED and TIMED OUT.
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
        let milliseconds = String(nanoseconds / 1_000_000 % 1000)
        return "\(nanoseconds / 1_000_000_000).\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds)"
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
