extension Arguments {
    /// Returns warnings about words that mean something, but probably not what was intended. Only for what was typed: a profile's
    /// flags have been in use.
    func warnings() -> [String] {
        var warnings = fileWarnings + typed.compactMap(swallowedFlag)
        if let method = value(.method), method != method.uppercased(), Completions.methods.contains(method.uppercased()) {
            warnings.append("the method \(method) is sent as it is typed; servers know \(method.uppercased())")
        }
        let json = values(.jsonData)
        let text = json.joined()
        if !text.isEmpty, !json.contains(where: { $0.hasPrefix("@") }),
            JSONFormatter(inColour: false).format(Array(text.utf8)) == nil
        {
            warnings.append(
                "the text of --json is not JSON, and is sent as it is; put it in single quotes, or into a file: --json @FILE")
        }
        return warnings
    }

    /// A flag whose value looks like the next flag, such as the file of `-o -L`: the value was forgotten.
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
