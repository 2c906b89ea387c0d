package import NevodPluginABI
internal import NevodSupport

/// Replaces the secrets of a recording. The plugin runs again with the placeholders, so that the outcomes match them.
package struct RecordingRedactor {
    /// The reason why a recording can't be redacted.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String
    }

    private let plugin: UnsafePointer<nevod_plugin>
    private let secretSettings: Set<[UInt8]>

    package init(_ plugin: UnsafePointer<nevod_plugin>) {
        self.plugin = plugin
        var names: Set<[UInt8]> = []
        for scheme in ContractHost.schemes(of: plugin) {
            var reader = TableReader()
            for pointer in reader.array(scheme.pointee.settings, scheme.pointee.setting_count, "the settings") {
                guard let setting = reader.table(pointer, nevod_setting(), NEVOD_SETTING_MINIMUM, "nevod_setting"),
                    setting.flags & UInt32(NEVOD_SETTING_SECRET) != 0
                else { continue }
                names.insert(reader.bytes(setting.name, "a setting's name"))
            }
        }
        secretSettings = names
    }

    /// - Throws: ``Problem`` if the plugin acts differently with placeholders, or if a secret is left.
    package func redacted(_ recording: Recording) throws(Problem) -> Recording {
        let secrets = RecordedSecrets(recording.calls, secretSettings: secretSettings).all
        var replacement = SecretReplacement()
        // The longest first, because a secret may contain another.
        for secret in secrets.sorted(by: { $0.count > $1.count }) { try replacement.add(secret) }
        let replayer = Replayer(plugin)
        var redacted = recording
        redacted.header.secrets = .replaced
        for (index, call) in recording.calls.enumerated() {
            var changed = try replaced(call, replacement)
            let outcome: ContractOutcome
            let needs: ContractNeeds?
            do throws(Replayer.Problem) { (outcome, needs) = try replayer.run(changed) } catch {
                throw Problem(description: "call \(index + 1), \(call.function.name), can't be replayed: \(error)")
            }
            try check(call, outcome, needs, index + 1)
            learn(call.outcome, outcome, &replacement)
            changed.outcome = outcome
            changed.needs = needs
            redacted.calls[index] = changed
        }
        let traces = SecretReplacement.traces(of: secrets)
        for json in [redacted.header.json] + redacted.calls.map(RecordingCoder.json) where Self.contains(json, traces) {
            throw Problem(description: "a secret would be left in the recording")
        }
        return redacted
    }

    /// Whether one of a line's texts contains one of the secrets, as it is or with JSON's escapes.
    private static func contains(_ json: JSONValue, _ traces: TextIndex<Void>) -> Bool {
        if var text = try? RecordingCoder.bytes(json) {
            // A string of JSON may itself be JSON.
            for _ in 0..<4 {
                if text.indices.contains(where: { traces.find(in: text, at: $0) { _, _ in true } != nil }) { return true }
                guard let inner = EscapedText(text) else { break }
                text = inner.bytes
            }
            return false
        }
        return switch json {
        case .object(let members): members.contains { contains($0.value, traces) }
        case .array(let elements): elements.contains { contains($0, traces) }
        default: false
        }
    }

    /// The plugin must make the same calls as before; only their bytes may differ.
    private func check(_ call: RecordedCall, _ outcome: ContractOutcome, _ needs: ContractNeeds?, _ number: Int) throws(Problem) {
        let old = call.outcome
        let isSame =
            old.result == outcome.result && needs == call.needs && old.faults.count == outcome.faults.count
            && old.sinks.map(\.call.function) == outcome.sinks.map(\.call.function)
            && old.sinks.map(\.result) == outcome.sinks.map(\.result)
        guard !isSame else { return }
        let shape = { (outcome: ContractOutcome) in
            let calls = outcome.sinks.map(\.call.function).joined(separator: ", ")
            return "\(calls.isEmpty ? "no call of the host" : calls), result \(outcome.result)"
        }
        throw Problem(
            description: "with placeholders the plugin takes another path at call \(number), \(call.function.name): "
                + "\(shape(outcome)) instead of \(shape(old))")
    }

    private func replaced(_ call: RecordedCall, _ replacement: SecretReplacement) throws(Problem) -> RecordedCall {
        do throws(RecordingCoder.Problem) {
            return try RecordingCoder.call(try Self.map(RecordingCoder.json(call)) { replacement.applied(to: $0) })
        } catch {
            throw Problem(description: "the recording of \(call.function.name) \(error.text)")
        }
    }

    /// The members that hold names of the contract, which are never secret.
    private static let names: Set<String> = ["name", "scheme", "method", "prompt"]

    private static func map(
        _ json: JSONValue, _ change: ([UInt8]) -> [UInt8]
    ) throws(RecordingCoder.Problem) -> JSONValue {
        switch json {
        case .string,
            .object where json["hex"] != nil:
            return RecordingCoder.json(change(try RecordingCoder.bytes(json)))
        case .array(let elements):
            var changed: [JSONValue] = []
            for element in elements { changed.append(try map(element, change)) }
            return .array(changed)
        case .object(let members):
            var changed: [JSONValue.Member] = []
            for member in members {
                let isName = names.contains(member.name) && member.value.string != nil
                changed.append(.init(member.name, isName ? member.value : try map(member.value, change)))
            }
            return .object(changed)
        default: return json
        }
    }

    /// Learns the values that the plugin computed from a secret. Servers return some of them, such as a `state`, and later requests
    /// carry them.
    private func learn(_ old: ContractOutcome, _ new: ContractOutcome, _ replacement: inout SecretReplacement) {
        for (old, new) in zip(old.sinks, new.sinks) {
            walk(RecordingCoder.json(old), RecordingCoder.json(new)) { old, new in
                replacement.learn(old, new)
                let separators = Set("&=?;,:\" /\n\r{}".utf8)
                let (olds, news) = (old.split { separators.contains($0) }, new.split { separators.contains($0) })
                guard olds.count == news.count else { return }
                for (old, new) in zip(olds, news) {
                    replacement.learn(Array(old), Array(new))
                    replacement.learn(PercentEncoding.decoded(old), PercentEncoding.decoded(new))
                }
            }
        }
    }

    private func walk(_ old: JSONValue, _ new: JSONValue, _ found: ([UInt8], [UInt8]) -> Void) {
        if let first = try? RecordingCoder.bytes(old), let second = try? RecordingCoder.bytes(new) { return found(first, second) }
        switch (old, new) {
        case (.object(let first), .object(let second)): for (old, new) in zip(first, second) { walk(old.value, new.value, found) }
        case (.array(let first), .array(let second)): for (old, new) in zip(first, second) { walk(old, new, found) }
        default: break
        }
    }
}
