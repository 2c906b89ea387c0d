internal import NevodSupport

/// Decides which settings a preset gives, and which of them the given settings replace.
extension SchemePreset {
    /// Returns the settings for an instance: the preset's, and the given ones, which replace the preset's of the same name.
    ///
    /// If a setting may have several values, and the preset's values have names of their own (`access_type=offline`,
    /// `Accept: text/plain`), a given value replaces only the preset's values with its name.
    ///
    /// - Parameter given: settings of the scheme, and a value for each of the ``placeholders`` that a line still needs. Such a
    ///   value consists of letters and digits, with `.`, `-`, `_` and `:` between them.
    public func settings(_ given: SchemeSettings = [:]) throws(PresetError) -> SchemeSettings {
        try settings(given, environment: environment)
    }

    func settings(_ given: SchemeSettings, environment: (String) -> String?) throws(PresetError) -> SchemeSettings {
        var values: [String: String] = [:]
        var rest = SchemeSettings()
        for (name, value) in given.values {
            guard placeholders.contains(where: { $0.name == name }) else {
                rest.add(name, value)
                continue
            }
            guard values[name] == nil else { throw bad(name, "was given more than once") }
            guard case .text(let text) = value else { throw bad(name, "must not be a secret") }
            try check(text, for: name)
            values[name] = text
        }
        let missing = missingPlaceholders(given)
        guard missing.isEmpty else { throw PresetError(name, .missingValues(missing)) }
        let kept = lines.filter { !isReplaced($0, by: rest) }
        var settings = SchemeSettings()
        for line in kept { settings.add(line.setting.name, try value(of: line, values, environment)) }
        for (name, value) in rest.values { settings.add(name, value) }
        return settings
    }

    private func isReplaced(_ line: Line, by given: SchemeSettings) -> Bool {
        guard line.setting.isRepeatable, let pair = line.value.pairName else { return given.contains(line.setting.name) }
        return given.values.contains { name, value in
            guard name == line.setting.name, case .text(let text) = value else { return false }
            return PresetText.pairName(of: text).map { $0.utf8.elementsEqual(pair.utf8) } ?? false
        }
    }

    /// The names and the numbers of the lines that the given settings don't replace, in the order of ``settings(_:)``.
    package func lines(beside given: SchemeSettings) -> [(setting: String, number: Int)] {
        lines.filter { !isReplaced($0, by: given) }.map { ($0.setting.name, $0.number) }
    }

    /// The placeholders that still need a value, in lines that the given settings don't replace.
    package func missingPlaceholders(_ given: SchemeSettings) -> [Placeholder] {
        let kept = lines.filter { !isReplaced($0, by: given) }
        return placeholders.filter { placeholder in
            !given.contains(placeholder.name) && kept.contains { $0.value.placeholders.contains(placeholder.name) }
        }
    }
}
