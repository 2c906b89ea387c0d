import NevodHost
import NevodSupport

/// A topic of `help`: a text, lists, and the flags of a group.
struct HelpTopic: Sendable {
    enum Part: Sendable {
        case text(String)
        case list([(String, String)])
        case flags([Flag])
        /// The presets that are found, read when the topic is shown.
        case presets
    }

    /// The word for `help`.
    let name: String
    let title: String
    private let parts: [Part]

    private init(_ name: String, _ title: String, _ parts: [Part]) {
        self.name = name
        self.title = title
        self.parts = parts
    }

    func text(_ layout: TextLayout) -> String {
        let texts = parts.flatMap { part in
            switch part {
            case .text(let text): [layout.paragraph(text)]
            case .list(let list): [layout.definitions(list)]
            case .flags(let flags): [layout.definitions(flags.map(Help.definition))]
            case .presets: Self.found.map { "\($0.scheme):\n" + layout.definitions($0.presets) }
            }
        }
        return ([title + ":"] + texts).joined(separator: "\n\n") + "\n"
    }

    /// The topics with texts of their own, and then the groups of flags.
    static let all: [HelpTopic] = {
        let texts = [exitCodes, settings, presets, secrets, profiles, sessions, environment, curl, shorthands, plugins]
        let groups = FlagGroup.all.filter { group in !texts.contains { $0.name == group.name } }
        return texts + groups.map { HelpTopic($0.name, $0.title, [.flags($0.flags)]) }
    }()

    private static let exitCodes = HelpTopic(
        "exit-codes", "Exit codes",
        [
            .list(
                ExitCode.documented.map { code, meaning in
                    (String(repeating: " ", count: 3 - String(code).count) + "\(code)", meaning)
                })
        ])

    private static let settings = HelpTopic(
        "settings", "Settings of a scheme",
        [
            .text("A scheme gets its settings by --set NAME=VALUE; nevod-host inspect PLUGIN lists them. VALUE is one of:"),
            .list(
                [
                    ("TEXT", "the text itself, unless the setting is a secret"),
                    ("text:TEXT", "the same, for a text that begins like one of those below"),
                ] + sources),
            .text(
                "A required secret that is left out is asked for at the terminal. Typed settings win over a profile's, and both over those "
                    + "of a preset (nevod-host help presets)."),
        ])

    private static let presets = HelpTopic(
        "presets", "Presets",
        [
            .text(
                "A preset is what everybody sets who uses a service: its addresses, and what it needs besides. --set preset=NAME chooses "
                    + "one; settings that are typed, or in a profile, win over it. A preset holds no secrets. --set preset=file:PATH reads one "
                    + "from a file; your own are in ~/.config/nevod-host/presets/SCHEME/NAME.preset."),
            .presets,
            .text("nevod-host inspect PLUGIN lists them with the settings that they are for."),
        ])

    /// The presets in the usual folders, by the id of their scheme.
    private static var found: [(scheme: String, presets: [(String, String)])] {
        let locator = PresetLocator.standard
        return locator.schemes.map { scheme in
            let presets = locator.names(for: scheme).compactMap { name -> (String, String)? in
                do throws(PresetError) {
                    guard let (title, needed) = try locator.summary(of: name, for: scheme) else { return nil }
                    let needs = needed.isEmpty ? "" : " (needs \(needed.joined(separator: ", ")))"
                    return (name, TerminalText.safe(title) + needs)
                } catch { return (name, "can't be used: \(error)") }
            }
            return (scheme, presets)
        }
    }

    private static let secrets = HelpTopic(
        "secrets", "Secrets",
        [
            .text(
                "A secret is never an argument, because other processes can read a command line. Settings (--set), answers "
                    + "(--answer), passwords (-u) and tokens take it from:"),
            .list(sources),
            .text(
                "A secret that is left out is asked for at the terminal, without echo. Messages and -v show [redacted] in place of "
                    + "credentials. While the program runs, no other process of this user can read its memory."),
        ])

    private static let sources = [
        ("env:VARIABLE", "an environment variable"),
        ("file:PATH", "the contents of a file, without one line break at its end"),
        ("keyring:NAME", "an item of the desktop's keyring"),
        ("command:WORDS", "the output of a command, which is run without a shell"),
        ("-", "standard input"),
    ]

    private static let profiles = HelpTopic(
        "profiles", "Profiles",
        [
            .text(
                "A profile keeps flags that belong together in ~/.config/nevod/config, by their long names, and the base of relative "
                    + "URLs:"),
            .text(
                "[work]\nurl = https://api.example.com/v1\nplugin = HMACAuth\nset = api-key=demo\nset = secret=env:WORK_SECRET"),
            .text(
                "nevod-host --profile work /orders then requests https://api.example.com/v1/orders. Its credential is for the origin "
                    + "of its url, and for those that it names in origins = URL."),
            .text("nevod-host profile --help has the commands that make and change profiles."),
        ])

    private static let sessions = HelpTopic(
        "sessions", "Sessions",
        [
            .text(
                "nevod-host login logs in and keeps the session, sealed; requests with the same profile or plugin settings use and "
                    + "renew it, and nevod-host logout ends it. nevod-host sessions --help has the commands for the list, and "
                    + "nevod-host store --help those for the file."),
            .flags(Flag.sessions),
        ])

    private static let environment = HelpTopic(
        "environment", "Environment", [.list(EnvironmentVariable.all.map { ($0.names, $0.meaning) })])

    private static let curl = HelpTopic(
        "curl", "Coming from curl",
        [
            .text("Flags are curl's where curl has them: a line for curl can mostly be pasted. What differs, with its reason:"),
            .list([
                ("-u NAME:PASSWORD", "is refused; -u NAME asks, and -u env:VARIABLE, file:PATH or - hold name:password"),
                ("-k", "is refused; --cacert FILE trusts a certificate"),
                ("host/path", "means https, except on loopback"),
                ("the URL", "is sent as typed, with // and /../; only characters that no URL may hold are encoded"),
                ("-o FILE", "appears when it is complete"),
                ("-L", "keeps credentials at their origin, and sends no body from https to http"),
                ("~/.curlrc", "is not read"),
            ]),
            .text("nevod-host sign --curl prints a request as a curl command."),
        ])

    private static let shorthands = HelpTopic(
        "shorthands", "Shorthands behind the URL",
        [
            .text("Words behind the URL describe the request, as with HTTPie:"),
            .list([
                ("name=value", "a text in a JSON object, or a field with --form"),
                ("name:=json", "a number, list or object in that JSON"),
                ("name==value", "a query item"),
                ("Name:value", "a header line"),
                ("name@path", "a file, with --form"),
            ]),
            .text("For example: nevod-host https://example.com/orders item=net count:=2 page==1"),
        ])

    private static let plugins = HelpTopic(
        "plugins", "Plugins",
        [
            .text(
                "A plugin adds the credential to a request. --plugin NAME is a path, or a name: HMACAuth stands for libHMACAuth.so in "
                    + "the first of these folders that has it:"),
            .list([
                ("NEVOD_PLUGIN_PATH", "folders of this variable, separated by colons"),
                ("~/.local/share/nevod/plugins", "your own"),
                ("/usr/local/lib/nevod/plugins", "installed ones"),
                ("/usr/lib/nevod/plugins", "those of the system"),
                ("the folder of nevod-host", "and lib/nevod/plugins beside its own"),
            ]),
            .text(
                "Others must not be able to write a plugin, or a folder above it. nevod-host inspect NAME lists its schemes and settings."
            ),
        ])
}
