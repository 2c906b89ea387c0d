import NevodSupport

/// The manual page (man(7)), generated from the same tables as the help.
enum ManPage {
    static var text: String {
        let sections = [
            // Programs that index manual pages look for exactly this dash.
            ["NAME", "nevod\\-host \\- HTTP requests, authorized by plugins"],
            ["SYNOPSIS", synopsis],
            ["DESCRIPTION", description],
            ["OPTIONS", options],
            ["EXIT STATUS", exitCodes],
            ["ENVIRONMENT", definitions(environment)],
            ["FILES", definitions(files)],
            ["SEE ALSO", ".BR curl (1)"],
        ]
        let header = #".TH NEVOD\-HOST 1 "" "nevod\-host \#(plain(Version.text))" "User Commands""#
        return ([header] + sections.map { ".SH \($0[0])\n\($0[1])" }).joined(separator: "\n") + "\n"
    }

    private static let synopsis = """
        .B nevod\\-host
        .RI [ options ]
        .I URL
        .br
        .B nevod\\-host sign
        .RI [ options ]
        .I URL
        .br
        .B nevod\\-host login
        .RI [ options ]
        .br
        .B nevod\\-host logout
        .RI [ options ]
        .br
        .B nevod\\-host sessions
        .RI [ "show NAME" | "forget NAME" ]
        .br
        .B nevod\\-host store
        .IR where | verify | rekey | export | import
        .RI [ FILE ]
        .br
        .B nevod\\-host inspect
        .RI [ options ]
        .I NAME
        .br
        .B nevod\\-host completions
        .I SHELL
        .br
        .B nevod\\-host manual
        """

    private static var description: String {
        let commands = Command.allCases.filter { $0 != .request }.map { command in
            ".TP\n.B \(plain(command.rawValue))\n\(line(sentence(command.summary)))"
        }
        return
            ([
                line("Sends an HTTP request whose credentials a plugin adds."),
                line("The body of the response goes to standard output, byte for byte, and everything else to standard error."),
                line("Options are those of curl where curl has them. The URL is sent as it was typed."),
                ".PP", line("Its first argument may be a command:"),
            ] + commands).joined(separator: "\n")
    }

    /// One list of all flags; a flag that a request doesn't take names its commands.
    private static var options: String {
        Flag.all.map { flag in
            let names = flag.spellings.map { "\\fB\(plain($0))\\fR" }.joined(separator: ", ")
            let value = flag.value.map { " \\fI\(plain($0.placeholder))\\fR" } ?? ""
            let belongs = flag.commands.contains(.request) ? "" : flag.commands.map(\.rawValue).sorted().joined(separator: ", ")
            return ".TP\n\(names)\(value)\n\(line(sentence(flag.help)))"
                + (belongs.isEmpty ? "" : "\n" + line("Only for \(belongs)."))
        }.joined(separator: "\n")
    }

    private static var exitCodes: String {
        ExitCode.documented.map { code, meaning in ".TP\n.B \(code)\n\(line(sentence(meaning)))" }.joined(separator: "\n")
    }

    private static let environment = [
        ("NEVOD_PLUGIN_PATH", "Absolute folders, separated by colons, in which plugins are looked up first."),
        ("XDG_DATA_HOME, XDG_CONFIG_HOME", "The parent folders of the plugin folder and of the config file."),
        ("NEVOD_HOST_STORE", "The store of sessions, without --store."),
        ("NEVOD_HOST_STORE_KEY", "The key of a store that env:NEVOD_HOST_STORE_KEY seals: 64 hexadecimal digits."),
        ("CURL_CA_BUNDLE, SSL_CERT_FILE", "Certificates (PEM) to trust, without --cacert."),
    ]

    private static let files = [
        (
            "~/.config/nevod/config",
            "Profiles: sections in brackets, with lines NAME = VALUE; NAME is the long name of an option."
        ),
        ("~/.local/share/nevod-host/sessions.db", "Sessions, sealed."),
        ("~/.config/nevod-host/store.key", "The key of the sessions, where there is no keyring (Secret Service)."),
        ("~/.local/share/nevod/plugins", "Plugins."),
        ("/usr/local/lib/nevod/plugins, /usr/lib/nevod/plugins", "Plugins."),
    ]

    private static func definitions(_ list: [(String, String)]) -> String {
        list.map { name, meaning in ".TP\n.B \(plain(name))\n\(line(meaning))" }.joined(separator: "\n")
    }

    private static func sentence(_ text: String) -> String {
        text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
    }

    /// Sets text on lines of its own, and escapes a leading control character, which would be a macro.
    static func line(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: true).map { line in
            let escaped = plain(line)
            return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + escaped : escaped
        }.joined(separator: "\n")
    }

    /// Escapes characters that groff would replace typographically: a bare `-` would become a hyphen, which a shell doesn't accept as
    /// a dash.
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
