import NevodSupport

/// The manual page (man(7)), generated from the same tables as the help.
enum ManPage {
    static var text: String {
        let sections = [
            // Programs that index manual pages look for exactly this dash.
            ["NAME", "nevod\\-host \\- HTTP requests, authorized by plugins"],
            ["SYNOPSIS", synopsis],
            ["DESCRIPTION", description],
            ["EXAMPLES", examples],
            ["OPTIONS", options],
            ["COMMANDS", commands],
            ["ENVIRONMENT", definitions(EnvironmentVariable.all.map { ($0.names, $0.meaning) })],
            ["EXIT STATUS", exitCodes],
            ["FILES", definitions(files)],
            ["SEE ALSO", ".BR curl (1),\n.BR openssl (1)"],
        ]
        let header = #".TH NEVOD\-HOST 1 "\#(Version.date.description)" "nevod\-host \#(plain(Version.text))" "User Commands""#
        return ([header] + sections.map { ".SH \($0[0])\n\($0[1])" }).joined(separator: "\n") + "\n"
    }

    /// The forms of each command, from the help.
    private static var synopsis: String {
        Command.allCases.flatMap { Help.synopsis(of: $0).split(separator: "\n") }.map { line in
            let usage = line.firstRange(of: "  ").map { line[..<$0.lowerBound] } ?? line
            return Self.usage(usage)
        }.joined(separator: "\n.br\n")
    }

    /// Sets literal words in bold and placeholders, which are in capitals, in italics.
    static func usage(_ text: some StringProtocol) -> String {
        var line = ""
        var rest = text[...]
        while let first = rest.first {
            let isWord = { (character: Character) in character.isLetter || character == "-" || character.isNumber }
            guard isWord(first) else {
                line += plain(String(rest.removeFirst()))
                continue
            }
            let word = rest.prefix(while: isWord)
            rest = rest[word.endIndex...]
            let isPlaceholder = word.allSatisfy { $0.isUppercase }
            let font = isPlaceholder ? "I" : word == "options" ? "R" : "B"
            line += "\\f\(font)\(plain(word))\\fR"
        }
        return line
    }

    private static var description: String {
        [
            line("Sends an HTTP request with credentials that a plugin adds."),
            line("The body of the response goes to standard output, byte for byte, and everything else to standard error."),
            line("Where curl has an option, this program's is the same."),
            line("The URL is sent as it was typed."),
            line("A command may come before or after options."),
        ].joined(separator: "\n")
    }

    private static var examples: String {
        Command.allCases.flatMap(HelpExample.all).map { example in
            ".TP\n.B \(plain(example.command))\n\(line(sentence(example.meaning)))"
        }.joined(separator: "\n")
    }

    /// The flags by group. A flag that requests don't take lists its commands.
    private static var options: String {
        FlagGroup.all.map { group in
            ".SS \(plain(group.title))\n" + group.flags.map(option).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private static func option(_ flag: Flag) -> String {
        let names = flag.spellings.map { "\\fB\(plain($0))\\fR" }.joined(separator: ", ")
        let value = flag.value.map { " \\fI\(plain($0.placeholder))\\fR" } ?? ""
        let belongs =
            flag.commands.contains(.request) ? "" : flag.commands.elements.map(\.rawValue).sorted().joined(separator: ", ")
        return ".TP\n\(names)\(value)\n\(line(sentence(flag.help)))"
            + (belongs.isEmpty ? "" : "\n" + line("Only for \(belongs)."))
    }

    private static var commands: String {
        Command.allCases.filter { $0 != .request }.map { command in
            ".TP\n.B \(plain(command.rawValue))\n\(line(sentence(command.summary)))"
        }.joined(separator: "\n")
    }

    private static var exitCodes: String {
        ExitCode.documented.map { code, meaning in ".TP\n.B \(code)\n\(line(sentence(meaning)))" }.joined(separator: "\n")
    }

    private static let files = [
        (
            "~/.config/nevod/config",
            "Profiles: sections in brackets, with lines NAME = VALUE; NAME is the long name of an option."
        ),
        ("~/.config/nevod-host/presets", "Presets of your own: SCHEME/NAME.preset."),
        ("PREFIX/share/nevod-host/presets", "The presets that are installed with PREFIX/bin/nevod-host."),
        ("~/.local/share/nevod-host/sessions.db", "Sessions, sealed."),
        ("~/.config/nevod-host/store.key", "The key of the sessions, if there is no keyring (Secret Service)."),
        ("~/.local/share/nevod/plugins", "Plugins."),
        ("PREFIX/share/nevod/kit", "The kit for schemes in Swift, installed with PREFIX/bin/nevod-host."),
        ("/usr/local/lib/nevod/plugins, /usr/lib/nevod/plugins", "Plugins."),
    ]

    private static func definitions(_ list: [(String, String)]) -> String {
        list.map { name, meaning in ".TP\n.B \(plain(name))\n\(line(meaning))" }.joined(separator: "\n")
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    /// Breaks text into lines of at most 80 bytes, unless a word is longer, and escapes a leading control character, which would
    /// begin a macro.
    static func line(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: true).flatMap { line in
            var lines = [""]
            for word in plain(line).split(separator: " ") {
                let last = lines[lines.count - 1]
                if !last.isEmpty, last.utf8.count + word.utf8.count >= 78 {
                    lines.append(String(word))
                } else {
                    lines[lines.count - 1] += (last.isEmpty ? "" : " ") + word
                }
            }
            return lines.map { $0.hasPrefix(".") || $0.hasPrefix("\\(aq") ? "\\&" + $0 : $0 }
        }.joined(separator: "\n")
    }

    /// Escapes characters that groff would replace typographically: a bare `-` would become a hyphen, which a shell doesn't
    /// accept as a minus sign.
    static func plain(_ text: some StringProtocol) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\(rs"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case _ where scalar.isASCII: escaped.unicodeScalars.append(scalar)
            default: escaped += "\\[u\(scalar.hexadecimal.uppercased())]"
            }
        }
        return escaped
    }
}
