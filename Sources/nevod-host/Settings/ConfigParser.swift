import NevodSupport

/// Parses the text of a config file. Errors never contain a value, which may be a secret.
struct ConfigParser {
    let path: String

    func profiles(_ bytes: [UInt8]) throws(ConfigError) -> [Profile] {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ConfigError(path, nil, "it is not UTF-8") }
        var profiles: [Profile] = []
        var lines: [String: Int] = [:]
        // Splits by bytes: a line break followed by a combining mark is one Character, and not a line break.
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: "\u{FEFF}".utf8) { line = line.dropFirst(3) }
            line = trimmed(line)
            let number = index + 1
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            guard line.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }) else {
                throw ConfigError(path, number, "it contains a control character")
            }
            if first == UInt8(ascii: "[") {
                let name = try section(line, number)
                if let other = lines.updateValue(number, forKey: name) {
                    throw ConfigError(path, number, "the profile \"\(name)\" is already defined in line \(other)")
                }
                profiles.append(Profile(name: name))
            } else {
                guard let last = profiles.indices.last else {
                    throw ConfigError(path, number, "this is outside a profile; begin one with [NAME]")
                }
                try read(line, number, into: &profiles[last])
            }
        }
        return profiles
    }

    private func section(_ line: Substring.UTF8View, _ number: Int) throws(ConfigError) -> String {
        guard let end = line.firstIndex(of: UInt8(ascii: "]")) else {
            throw ConfigError(path, number, "the profile's name has no closing ]")
        }
        let rest = trimmed(line[line.index(after: end)...])
        guard rest.isEmpty || rest.first == UInt8(ascii: "#") else {
            throw ConfigError(path, number, "a profile's name must be on a line of its own")
        }
        let name = trimmed(line[line.index(after: line.startIndex)..<end])
        guard !name.isEmpty else { throw ConfigError(path, number, "the profile has no name") }
        return String(decoding: name, as: UTF8.self)
    }

    private func read(_ line: Substring.UTF8View, _ number: Int, into profile: inout Profile) throws(ConfigError) {
        let key = String(decoding: trimmed(line.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self)
        let value = line.firstIndex(of: UInt8(ascii: "=")).map {
            String(decoding: trimmed(line[line.index(after: $0)...]), as: UTF8.self)
        }
        if key == "url" {
            guard profile.baseURL == nil else { throw ConfigError(path, number, "the profile has a url already") }
            profile.baseURL = try base(value ?? "", number)
            return
        }
        guard let flag = Self.flags.first(where: { $0.long == key }) else { throw unknown(key, number) }
        guard flag.value != nil else {
            guard value == nil || value == "true" else {
                throw ConfigError(path, number, "\(key) takes no value: write it alone, or leave it out")
            }
            profile.flags.append((flag.name, ""))
            return
        }
        guard let value, !value.isEmpty || flag.mayBeEmpty else {
            throw ConfigError(path, number, "\(key) needs a value: \(key) = \(flag.value?.placeholder ?? "")")
        }
        profile.flags.append((flag.name, value))
    }

    private func base(_ text: String, _ number: Int) throws(ConfigError) -> String {
        let lowercased = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix),
            let first = text.utf8.dropFirst(scheme.utf8.count).first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?")
        else { throw ConfigError(path, number, "url must begin with https:// or http:// and a host") }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw ConfigError(path, number, "url must not have a fragment (#)") }
        return text
    }

    private func unknown(_ key: String, _ number: Int) -> ConfigError {
        // A text that isn't a name may be part of a secret.
        guard key.utf8.count <= 64, !key.utf8.contains(UInt8(ascii: " ")) else {
            return ConfigError(path, number, "write a line as NAME = VALUE, with the long name of an option")
        }
        var bare = key[...]
        while bare.hasPrefix("-") { bare.removeFirst() }
        if bare != key, bare == "url" || Self.flags.contains(where: { $0.long == bare }) {
            return ConfigError(path, number, "write \(bare), without dashes")
        }
        let hint = Suggestions.hint(for: String(bare), among: ["url"] + Self.flags.map(\.long))
        return ConfigError(
            path, number, "unknown option \"\(TerminalText.safe(key))\"\(hint.isEmpty ? "; see nevod-host --help" : hint)")
    }

    private static let flags = Flag.all.filter(\.isInProfiles)

    private func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var text = text
        while let first = text.first, Self.isSpace(first) { text.removeFirst() }
        while let last = text.last, Self.isSpace(last) { text.removeLast() }
        return text
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
