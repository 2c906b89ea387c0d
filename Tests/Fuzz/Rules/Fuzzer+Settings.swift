import NevodSupport

@testable import NevodHost
@testable import nevod_host

extension Fuzzer {
    /// The command line's config file.
    static let config = Fuzzer("config") { input in
        guard let profiles = try? ConfigParser(path: "config").profiles(input.array) else { return }
        let text = profiles.map { profile in
            let flags = profile.flags.map { flag in
                let long = Flag.all.first { $0.name == flag.name }.map {
                    $0.value == nil ? $0.long : "\($0.long) = \(flag.value)"
                }
                return (long ?? "") + "\n"
            }
            return "[\(profile.name)]\n" + (profile.baseURL.map { "url = \($0)\n" } ?? "")
                + profile.origins.dropFirst(profile.baseURL == nil ? 0 : 1).map { "origins = \($0)\n" }.joined() + flags.joined()
        }.joined()
        guard let again = try? ConfigParser(path: "config").profiles(Array(text.utf8)) else {
            return expect(false, "a written file is read again")
        }
        expect(again.map(summary) == profiles.map(summary), "profiles are read as they were written")
        for profile in profiles {
            for operand in ["orders?all#a", "https://example.com", ""] {
                _ = try? HTTPRequest(.get, profile.url(for: operand))
            }
        }
    }

    /// The changes of `profile` to a config file. Everything else in it stays.
    static let configEdit = Fuzzer("config-edit") { input in
        let bytes = input.array
        let parser = ConfigParser(path: "config")
        guard let before = try? parser.content(bytes) else { return }
        let changed = { (change: (inout ConfigEditor) -> Void) in
            var editor = ConfigEditor(bytes)
            change(&editor)
            return try? parser.content(editor.bytes)
        }
        let same = changed { _ in }
        expect(same?.profiles.map(summary) == before.profiles.map(summary), "an unchanged file has the same profiles")
        let new = "\u{1F600}"
        guard !before.profiles.contains(where: { $0.name == new }) else { return }
        let added = changed { $0.append(new, ["location"]) }
        expect(added?.profiles.dropLast().map(summary) == before.profiles.map(summary), "the others stay when one is added")
        expect(added?.profiles.last?.name == new && added?.profiles.last?.flags.count == 1, "a profile is added")
        guard let name = before.profiles.last?.name else { return }
        let chosen = changed { $0.setDefault(name) }
        expect(chosen?.defaultName == name && chosen?.profiles.map(summary) == before.profiles.map(summary), "a default is set")
        expect(changed { $0.setDefault(nil) }?.defaultName == nil, "a default is removed")
        let renamed = changed { text in
            text.setDefault(new)
            text.rename(name, to: new)
        }
        expect(renamed?.profiles.map(\.name) == before.profiles.map { $0.name == name ? new : $0.name }, "a profile is renamed")
        let removed = changed { text in
            text.setDefault(nil)
            text.remove(name)
        }
        expect(removed?.profiles.map(summary) == before.profiles.dropLast().map(summary), "the others stay when one is removed")
    }

    /// The arguments of a `command:…`.
    static let commandWords = Fuzzer("command-words") { input in
        guard let words = try? CommandWords.split(input.text) else { return }
        expect(!words.isEmpty && !words[0].isEmpty, "a command has a program")
        let quoted = words.map(ShellWord.quoted).joined(separator: " ")
        expect(
            (try? CommandWords.split(quoted))?.map { Array($0.utf8) } == words.map { Array($0.utf8) },
            "quoted words are split again")
    }

    private static func summary(of profile: Profile) -> [[UInt8]] {
        [Array(profile.name.utf8), Array((profile.baseURL ?? "").utf8)] + profile.origins.map { Array("\($0)".utf8) }
            + profile.flags.flatMap { [Array("\($0.name)".utf8), Array($0.value.utf8)] }
    }

    /// A file of flags (`-K`).
    static let flagFile = Fuzzer("flag-file") { input in
        let parser = FlagFileParser(path: "flags")
        guard let lines = try? parser.lines(input.array) else { return }
        let text = lines.map { line in
            let value = line.value.map { value in
                " \""
                    + value.unicodeScalars.map { scalar in
                        switch scalar {
                        case "\"", "\\": "\\\(scalar)"
                        case "\n": "\\n"
                        default: "\(scalar)"
                        }
                    }.joined() + "\""
            }
            return line.option + (value ?? "")
        }.joined(separator: "\n")
        guard let again = try? parser.lines(Array(text.utf8)) else { return expect(false, "a written file is read again") }
        expect(
            again.map(\.option) == lines.map(\.option) && again.map(\.value) == lines.map(\.value),
            "lines are read as they were written")
    }

    /// An item after a URL, such as `name=value`, and its effect.
    static let item = Fuzzer("item", isLinear: false) { input in
        guard let item = try? RequestItem(input.text) else { return }
        guard item.kind == .text || item.kind == .json else { return }
        guard let content = try? ItemContent([item, item], asForm: false), case .bytes(let bytes) = content.body else { return }
        expect((try? JSONValue(parsing: bytes.span, size: .max, depth: 200)) != nil, "items make JSON")
    }

    /// The name of a file in `Content-Disposition`.
    static let disposition = Fuzzer("disposition") { input in
        guard let name = ContentDisposition.fileName(in: input.text) else { return }
        expect(!name.isEmpty && name.utf8.count <= 255, "a name has 1 to 255 bytes")
        expect(!name.hasPrefix(".") && !name.utf8.contains(UInt8(ascii: "/")), "a name stays in its folder and is visible")
        expect(!name.unicodeScalars.contains { $0.value < 0x20 || $0.isUnsafeAtTerminal }, "a name has no controls")
    }
}
