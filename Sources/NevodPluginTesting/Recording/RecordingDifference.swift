internal import NevodPluginABI
internal import NevodSupport

/// A difference between a recorded call and its replay, as lines for people.
package struct RecordingDifference: Sendable, Equatable {
    /// The number of the call, from 1.
    package let call: Int
    /// The function, such as `authorize`.
    package let function: String
    /// The part that differs: "X-Signature of set_header", for example.
    package let field: String
    package let expected: String
    package let got: String

    package var lines: [String] {
        ["call \(call), \(function): \(field)", "  expected: \(expected)", "  got:      \(got)"]
    }

    /// Compares a call with its replay.
    package static func between(
        _ recorded: RecordedCall, _ outcome: ContractOutcome, needs: ContractNeeds?, number: Int
    ) -> [RecordingDifference] {
        var differences: [RecordingDifference] = []
        let add = { (field: String, expected: String, got: String) in
            differences.append(
                RecordingDifference(call: number, function: recorded.function.name, field: field, expected: expected, got: got))
        }
        let old = recorded.outcome
        if old.result != outcome.result { add("the result", text(old.result, recorded), text(outcome.result, recorded)) }
        if recorded.needs != needs { add("the needs", text(recorded.needs), text(needs)) }
        for index in 0..<max(old.sinks.count, outcome.sinks.count) {
            let expected = old.sinks.indices.contains(index) ? old.sinks[index] : nil
            let got = outcome.sinks.indices.contains(index) ? outcome.sinks[index] : nil
            guard expected != got else { continue }
            guard let expected, let got, expected.call.function == got.call.function else {
                add("call \(index + 1) of the host", expected.map(text) ?? "no call", got.map(text) ?? "no call")
                // Later calls would differ only because they are shifted.
                break
            }
            for (field, expected, got) in fields(expected, got) { add(field, expected, got) }
        }
        if old.faults != outcome.faults {
            add("the faults", old.faults.joined(separator: "; "), outcome.faults.joined(separator: "; "))
        }
        return differences
    }

    private static func text(_ result: Int32, _ call: RecordedCall) -> String {
        if case .onResponse = call.function { return "the verdict \(result)" }
        return TestFailure.name(of: result)
    }

    private static func text(_ needs: ContractNeeds?) -> String {
        guard let needs else { return "none" }
        let names = (needs.digests + needs.responseDigests).map { String(decoding: $0, as: UTF8.self) }
        let types = needs.challengeTypes.map { String(decoding: $0, as: UTF8.self) }
        return
            "flags \(needs.flags), digests \(names.joined(separator: " ")), statuses \(needs.challengeStatuses), types \(types)"
    }

    private static func text(_ json: JSONValue) -> String {
        json.string ?? json.encoded.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private static func text(_ sink: SinkRecord) -> String { text(RecordingCoder.json(sink)) }

    /// The leaves in which two calls of one function differ.
    private static func fields(_ old: SinkRecord, _ new: SinkRecord) -> [(String, String, String)] {
        let function = old.call.function
        var name = function
        switch old.call {
        case .setHeader(let header, _), .addHeader(let header, _), .addQuery(let header, _), .addCookie(let header, _):
            if case let other = new.call, other.name == header { name = "\(function) \(String(decoding: header, as: UTF8.self))" }
        default: break
        }
        var found: [(String, String, String)] = []
        walk(RecordingCoder.json(old), RecordingCoder.json(new), "") { path, old, new in
            let path = path.hasPrefix("\(function).") ? String(path.dropFirst(function.utf8.count + 1)) : path
            found.append((path == "value" ? name : "\(path) of \(name)", text(old), text(new)))
        }
        return found
    }

    private static func walk(
        _ old: JSONValue, _ new: JSONValue, _ path: String, _ found: (String, JSONValue, JSONValue) -> Void
    ) {
        guard old != new else { return }
        let prefix = path.isEmpty ? "" : "\(path)."
        switch (old, new) {
        case (.object(let first), .object(let second)) where first.map(\.name) == second.map(\.name) && old["hex"] == nil:
            for (old, new) in zip(first, second) { walk(old.value, new.value, prefix + old.name, found) }
        case (.array(let first), .array(let second)) where first.count == second.count:
            for (index, (old, new)) in zip(first, second).enumerated() { walk(old, new, "\(prefix)\(index + 1)", found) }
        default: found(path, old, new)
        }
    }
}

extension SinkCall {
    /// The name of an edit.
    fileprivate var name: [UInt8]? {
        switch self {
        case .setHeader(let name, _), .addHeader(let name, _), .addQuery(let name, _), .addCookie(let name, _): name
        default: nil
        }
    }
}
