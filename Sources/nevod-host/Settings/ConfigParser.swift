import NevodHost
import NevodSupport

/// Parses the text of a config file. Errors never contain a value, which may be a secret.
struct ConfigParser {
    let path: String

    func profiles(_ bytes: [UInt8]) throws(ConfigError) -> [Profile] { try content(bytes).profiles }

    /// Returns the profiles, and the one that `default = NAME` above the first section names.
    func content(_ bytes: [UInt8]) throws(ConfigError) -> (profiles: [Profile], defaultName: String?) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ConfigError(path, nil, "it is not UTF-8") }
        var profiles: [Profile] = []
        var lines: [String: Int] = [:]
        var byDefault: (name: String, line: Int)?
        for line in ConfigLine.lines(of: text) where !line.isComment {
            let number = line.number
            guard !line.hasControl else { throw ConfigError(path, number, "it contains a control character") }
            if line.text.first == UInt8(ascii: "[") {
                let name = try section(line.text, number)
                if let other = lines.updateValue(number, forKey: name) {
                    throw ConfigError(path, number, "the profile \"\(name)\" is already defined in line \(other)")
                }
                profiles.append(Profile(name: name, path: path, line: number))
            } else {
                guard let last = profiles.indices.last else {
                    guard line.name == "default", let name = line.value else {
                        throw ConfigError(path, number, "this is outside a profile; begin one with [NAME]")
                    }
                    guard byDefault == nil else { throw ConfigError(path, number, "there is a default already") }
                    byDefault = (name, number)
                    continue
                }
                try read(line, into: &profiles[last])
            }
        }
        if let byDefault, lines[byDefault.name] == nil {
            let hint = Suggestions.hint(for: byDefault.name, among: profiles.map(\.name))
            throw ConfigError(
                path, byDefault.line, "the default names no profile of this file\(hint.isEmpty ? "; write default = NAME" : hint)"
            )
        }
        return (profiles, byDefault?.name)
    }

    /// Returns the name of the section that a line begins; nil for another line.
    func sectionName(_ line: String) -> String? {
        let line = trimmed(line.utf8[...])
        return line.first == UInt8(ascii: "[") ? try? section(line, 0) : nil
    }

    /// Whether a line sets the default profile, if it stands above all sections.
    func setsDefault(_ line: String) -> Bool {
        let line = ConfigLine(number: 1, text: trimmed(line.utf8[...]))
        return line.name == "default" && line.value != nil
    }

    /// Whether a line is a comment, or empty.
    func isRemark(_ line: String) -> Bool { trimmed(line.utf8[...]).first.map { $0 == UInt8(ascii: "#") } ?? true }

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

    private func read(_ line: ConfigLine, into profile: inout Profile) throws(ConfigError) {
        let (key, value, number) = (line.name, line.value, line.number)
        if key == "url" {
            guard profile.baseURL == nil else { throw ConfigError(path, number, "the profile has a url already") }
            let url = try base(value ?? "", number)
            profile.baseURL = url
            profile.baseLine = number
            do { profile.origins.insert(try Origin(ofURL: url), at: 0) } catch {
                throw ConfigError(path, number, "url can't be used: \(error.problem)")
            }
            return
        }
        if key == "origins" {
            profile.origins += try origins(value ?? "", number)
            return
        }
        guard let flag = Self.flags.first(where: { $0.long == key }) else { throw unknown(key, number) }
        guard flag.value != nil else {
            guard value == nil || value == "true" else {
                throw ConfigError(path, number, "\(key) takes no value: write it alone, or leave it out")
            }
            profile.flags.append(ProfileFlag(flag.name, "", line: number))
            return
        }
        guard let value, !value.isEmpty || flag.mayBeEmpty else {
            throw ConfigError(path, number, "\(key) needs a value: \(key) = \(flag.value?.placeholder ?? "")")
        }
        profile.flags.append(ProfileFlag(flag.name, value, line: number))
    }

    private func base(_ text: String, _ number: Int) throws(ConfigError) -> String {
        let lowercased = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix),
            let first = text.utf8.dropFirst(scheme.utf8.count).first, first != UInt8(ascii: "/"), first != UInt8(ascii: "?")
        else { throw ConfigError(path, number, "url must begin with https:// or http:// and a host") }
        let authority = text.utf8.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        guard !authority.contains(UInt8(ascii: "@")) else {
            throw ConfigError(
                path, number, "url must not have a name or a password before an @; write user = env:VARIABLE, or file:PATH")
        }
        guard !text.utf8.contains(UInt8(ascii: "#")) else { throw ConfigError(path, number, "url must not have a fragment (#)") }
        return text
    }

    private func origins(_ text: String, _ number: Int) throws(ConfigError) -> [Origin] {
        var origins: [Origin] = []
        for word in text.utf8.split(whereSeparator: ConfigLine.isSpace) {
            do { origins.append(try Origin(String(decoding: word, as: UTF8.self))) } catch {
                throw ConfigError(
                    path, number, "origins holds something else than https://HOST or https://HOST:PORT: \(error.problem)")
            }
        }
        guard !origins.isEmpty else {
            throw ConfigError(path, number, "origins needs a value: origins = https://HOST https://HOST:PORT")
        }
        return origins
    }

    private func unknown(_ key: String, _ number: Int) -> ConfigError {
        // A text that isn't a name may be part of a secret.
        guard key.utf8.count <= 64, !key.utf8.contains(UInt8(ascii: " ")) else {
            return ConfigError(path, number, "write a line as NAME = VALUE, with the long name of an option")
        }
        var bare = key[...]
        while bare.hasPrefix("-") { bare.removeFirst() }
        if bare != key, bare == "url" || bare == "origins" || Self.flags.contains(where: { $0.long == bare }) {
            return ConfigError(path, number, "write \(bare), without dashes")
        }
        let hint = Suggestions.hint(for: String(bare), among: ["url", "origins"] + Self.flags.map(\.long))
        return ConfigError(
            path, number, "unknown option \"\(TerminalText.safe(key))\"\(hint.isEmpty ? "; see nevod-host --help" : hint)")
    }

    private static let flags = Flag.all.filter(\.isInProfiles)

    private func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View { ConfigLine.trimmed(text) }
}
