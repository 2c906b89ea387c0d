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

    /// The name of the topic for `help`.
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

    /// The topics with their own texts, then the groups of flags.
    static let all: [HelpTopic] = {
        let texts = [exitCodes, settings, presets, secrets, profiles, sessions, environment, curl, shorthands, plugins]
        let groups = FlagGroup.all.filter { group in !texts.contains { $0.name == group.name } }
        return texts + groups.map { HelpTopic($0.name, $0.title, [.flags($0.flags)]) }
    }()

    private static let exitCodes = HelpTopic(
        "exit-codes", "Exit codes",
        [
            .list(ExitCode.documented.map { code, meaning in ("\(code)".rightAligned(in: 3), meaning) })
        ])

    private static let settings = HelpTopic(
        "settings", "Settings of a scheme",
        [
            .text("--set NAME=VALUE gives a setting to a scheme; nevod-host inspect PLUGIN lists its settings. VALUE is one of:"),
            .list(
                [
                    ("TEXT", "the text itself, unless the setting is a secret"),
                    ("text:TEXT", "the same, for a text that begins like one of the forms below"),
                ] + sources),
            .text(
                "A required secret that is left out is asked for at the terminal. Typed settings override a profile's, and both override "
                    + "a preset's (nevod-host help presets)."),
        ])

    private static let presets = HelpTopic(
        "presets", "Presets",
        [
            .text(
                "A preset holds the settings that every user of a service needs, such as its addresses, and never a secret. "
                    + "--set preset=NAME chooses one; settings that are typed, or in a profile, override it. --set preset=file:PATH reads one "
                    + "from a file. Your own presets are in ~/.config/nevod-host/presets/SCHEME/NAME.preset."),
            .presets,
            .text("nevod-host inspect PLUGIN lists the presets of a plugin, and its settings."),
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
                    + "(--answer), passwords (-u) and tokens (--bearer) take it from:"),
            .list(sources),
            .text(
                "A secret that is left out is asked for at the terminal, without echo. Messages and -v show [redacted] in place of "
                    + "credentials. While the program runs, no other process of this user can read its memory."),
        ])

    private static let sources = [
        ("env:VARIABLE", "an environment variable"),
        ("file:PATH", "the contents of a file, without a final line break"),
        ("keyring:NAME", "an item of the desktop's keyring"),
        ("command:WORDS", "the output of a command, which is run without a shell"),
        ("-", "standard input"),
    ]

    private static let profiles = HelpTopic(
        "profiles", "Profiles",
        [
            .text(
                "A profile is a section of ~/.config/nevod/config. It holds flags, by their long names, and the base of relative URLs:"
            ),
            .text(
                "[work]\nurl = https://api.example.com/v1\nplugin = HMACAuth\nset = api-key=demo\nset = secret=env:WORK_SECRET"),
            .text(
                "nevod-host --profile work /orders then requests https://api.example.com/v1/orders. The profile's credential is for "
                    + "the origin of its url, and for further origins that it names in origins = URL."),
            .text("nevod-host profile --help lists the commands that create and change profiles."),
        ])

    private static let sessions = HelpTopic(
        "sessions", "Sessions",
        [
            .text(
                "nevod-host login logs in and stores the session, sealed. Requests with the same profile or plugin settings use and "
                    + "renew it, and nevod-host logout ends it. nevod-host sessions --help says how to list and remove sessions, and "
                    + "nevod-host store --help how to maintain their store."),
            .flags(Flag.sessions),
        ])

    private static let environment = HelpTopic(
        "environment", "Environment", [.list(EnvironmentVariable.all.map { ($0.names, $0.meaning) })])

    private static let curl = HelpTopic(
        "curl", "Coming from curl",
        [
            .text("Where curl has a flag, this program's is the same, so most curl commands can be pasted. The differences:"),
            .list([
                (
                    "-u NAME:PASSWORD",
                    "is refused; -u NAME asks for the password, and env:VARIABLE, file:PATH or - give name:password"
                ),
                ("-k", "is refused; --cacert FILE trusts a certificate"),
                ("host/path", "means https, except on loopback"),
                ("the URL", "is sent as typed, even // and /../; only characters that are invalid in a URL are encoded"),
                ("-o FILE", "appears when it is complete"),
                ("-L", "keeps credentials at their origin, and sends no body from https to http"),
                ("~/.curlrc", "is not read"),
            ]),
            .text("nevod-host sign --curl prints a request as a curl command."),
        ])

    private static let shorthands = HelpTopic(
        "shorthands", "Shorthands after the URL",
        [
            .text("Words after the URL describe the request, as in HTTPie:"),
            .list([
                ("name=value", "a text in a JSON object, or a form field with --as-form"),
                ("name:=json", "a number, list or object in that JSON"),
                ("name==value", "a query item"),
                ("Name:value", "a header line"),
                ("name@path", "a file of a multipart form"),
            ]),
            .text("For example: nevod-host https://example.com/orders item=net count:=2 page==1"),
        ])

    private static let plugins = HelpTopic(
        "plugins", "Plugins",
        [
            .text(
                "A plugin adds the credential to a request. --plugin takes a path, or a name: HMACAuth means libHMACAuth.so in "
                    + "the first of these folders that has it:"),
            .list([
                ("NEVOD_PLUGIN_PATH", "the folders in this variable, separated by colons"),
                ("~/.local/share/nevod/plugins", "your own"),
                ("/usr/local/lib/nevod/plugins", "installed ones"),
                ("/usr/lib/nevod/plugins", "the system's"),
                ("the folder of nevod-host", "and then ../lib/nevod/plugins, relative to it"),
            ]),
            .text(
                "Other users must not be able to write to a plugin or to a folder above it. nevod-host inspect NAME lists a plugin's "
                    + "schemes and settings."
            ),
        ])
}

/// A variable of the environment that the program, or a library that it loads, reads.
struct EnvironmentVariable: Sendable {
    /// One name, or several with the same meaning, separated by commas.
    let names: String
    let meaning: String

    private init(_ names: String, _ meaning: String) {
        self.names = names
        self.meaning = meaning
    }

    static let all = [
        EnvironmentVariable("NEVOD_PLUGIN_PATH", "Absolute folders, separated by colons, in which plugins are looked up first."),
        EnvironmentVariable("NEVOD_PROFILE", "The profile to use without --profile."),
        EnvironmentVariable("NEVOD_HOST_STORE", "The store of sessions, without --store."),
        EnvironmentVariable(
            "NEVOD_HOST_STORE_KEY", "The key of a store with --store-key env:NEVOD_HOST_STORE_KEY: 64 hexadecimal digits."),
        EnvironmentVariable(
            "HOME, XDG_CONFIG_HOME, XDG_DATA_HOME", "The parent folders of the config file, presets, the store and plugins."),
        EnvironmentVariable("http_proxy", "The proxy for http URLs; the spelling in capitals is ignored, as by curl."),
        EnvironmentVariable("https_proxy, HTTPS_PROXY", "The proxy for https URLs."),
        EnvironmentVariable("all_proxy, ALL_PROXY", "The proxy for URLs without one of the above."),
        EnvironmentVariable(
            "no_proxy, NO_PROXY",
            "Hosts to connect to directly: names with their subdomains, addresses, or *, separated by commas."),
        EnvironmentVariable("CURL_CA_BUNDLE, SSL_CERT_FILE", "Certificates (PEM) to trust, without --cacert."),
        EnvironmentVariable("KUBERNETES_EXEC_INFO", "The request of kubectl, for nevod-host credential kubectl-exec."),
        EnvironmentVariable("NEVOD_TOKEN", "Never read: nevod-host run sets it to the token for its command, without --env."),
        EnvironmentVariable("VISUAL, EDITOR", "The editor of nevod-host profile edit."),
        EnvironmentVariable("BROWSER", "Commands that open an address, separated by colons; %s stands for the address."),
        EnvironmentVariable("DISPLAY, WAYLAND_DISPLAY", "Whether there is a desktop, on which xdg-open opens addresses."),
        EnvironmentVariable("PATH", "The folders in which commands are looked up."),
        EnvironmentVariable("NO_COLOR", "No colours, if it is set and not empty."),
        EnvironmentVariable("CLICOLOR_FORCE", "Colours even in a pipe, if it is set and not 0."),
        EnvironmentVariable("CLICOLOR", "No colours, if it is 0."),
        EnvironmentVariable(
            "NEVOD_PAGER, PAGER", "The pager for what is longer than the screen, without --no-pager; empty for none."),
        EnvironmentVariable("COLUMNS", "The width of the help at a terminal."),
        EnvironmentVariable("TERM", "No colours if it is dumb."),
        EnvironmentVariable("TMPDIR", "The folder for temporary files, instead of /tmp."),
        EnvironmentVariable("DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR", "The session bus for the keyring."),
        EnvironmentVariable(
            "PGPASSFILE, PGSERVICEFILE", "The password file and the service file for a store on a PostgreSQL server."),
    ]
}
