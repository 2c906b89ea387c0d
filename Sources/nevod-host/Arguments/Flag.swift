/// A flag of the command line.
///
/// ``all`` is the only table: parsing, help, manual page, completions, profiles and the checks of commands read it. A new flag is a
/// ``Name`` and one entry.
struct Flag: Sendable {
    enum Name: Sendable, CaseIterable {
        case plugin, scheme, set, param, answer, profile
        case account, store, storeKey, noStore, newKey, replace
        case method, header, user
        case data, dataBinary, dataURLEncode, jsonData, get, form, uploadFile
        case location, maxRedirects, retry, compressed
        case include, output, outputDirectory, fail, timing, verbose, silent
        case maxTime, maxFileSize, connectTimeout, proxy
        case caFile, pinnedKey, certificate, key
        case curl, json, help, version
    }

    let name: Name
    let long: String
    let short: Character?
    /// Nil for a flag without a value.
    let value: Value?
    let commands: Set<Command>
    private let traits: Traits
    /// The words of `store` that take this flag; empty where all of them do.
    let storeWords: Set<String>
    let help: String

    init(
        _ name: Name, _ long: String, _ short: Character? = nil, value: Value? = nil, in commands: Set<Command>,
        _ traits: Traits = [], storeWords: Set<String> = [], help: String
    ) {
        self.name = name
        self.long = long
        self.short = short
        self.value = value
        self.commands = commands
        self.traits = traits
        self.storeWords = storeWords
        self.help = help
    }

    /// Each occurrence counts, not only the last.
    var isRepeatable: Bool { traits.contains(.repeatable) }
    /// Whether the value may be the empty text.
    var mayBeEmpty: Bool { traits.contains(.mayBeEmpty) }
    /// Whether the flag means nothing without `--plugin`.
    var needsPlugin: Bool { traits.contains(.needsPlugin) }
    /// Whether a `login` command needs this flag to log in to the same place.
    var locatesLogin: Bool { traits.contains(.locatesLogin) }
    /// Whether a profile may hold the flag. Profiles serve requests and signatures, and do not name other profiles.
    var isInProfiles: Bool { !traits.contains(.notInProfile) && !commands.isDisjoint(with: Self.requests) }

    /// With dashes, the short one first.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + ["--\(long)"] }

    static func flags(of command: Command) -> [Flag] { all.filter { $0.commands.contains(command) } }

    static let all: [Flag] = [
        Flag(
            .plugin, "plugin", "p", value: .plugin("NAME"), in: authorizing, .locatesLogin,
            help: "Authorize with this plugin: a path, or a name to look up in the plugin folders"),
        Flag(
            .scheme, "scheme", value: .text("ID"), in: authorizing, [.needsPlugin, .locatesLogin],
            help: "The scheme to use, if the plugin has several"),
        Flag(
            .set, "set", value: .text("NAME=VALUE", standardInput: .assigned), in: authorizing,
            [.repeatable, .needsPlugin, .locatesLogin],
            help:
                "A setting of the scheme; VALUE is a text, env:VARIABLE, file:PATH or - for standard input; a secret is never a text"
        ),
        Flag(
            .param, "param", value: .text("NAME=VALUE"), in: requests.union([.login]),
            [.repeatable, .needsPlugin, .locatesLogin],
            help: "A parameter of the scheme for this request, such as a scope; each set of them has a session of its own"),
        Flag(
            .answer, "answer", value: .text("NAME=SOURCE", standardInput: .assigned), in: storing, [.repeatable, .needsPlugin],
            help:
                "Answer a login's question: env:VARIABLE, file:PATH, - or, unless it is secret, a text; each --answer serves one question"
        ),
        Flag(
            .profile, "profile", value: .profile("PROFILE"), in: storing, [.locatesLogin, .notInProfile],
            help: "Take flags and the base of relative URLs from this section of the config file"),
        Flag(
            .account, "account", value: .text("ACCOUNT"), in: authorizing, [.mayBeEmpty, .needsPlugin, .locatesLogin],
            help:
                "The account of the session to use, or to log in to, and the name to keep its session under; without it, the only session there is"
        ),
        Flag(
            .store, "store", value: .file("PATH"), in: storing, .locatesLogin,
            help:
                "Keep sessions in this file, or at postgresql://USER@HOST/DATABASE, instead of $NEVOD_HOST_STORE or ~/.local/share/nevod-host/sessions.db"
        ),
        Flag(
            .storeKey, "store-key", value: .text("SOURCE"), in: storing, .locatesLogin,
            help:
                "The key of the store: secret-service, file:PATH, passphrase (--answer store-passphrase=SOURCE) or env:VARIABLE; without it, a new store is sealed by the keyring or a key file"
        ),
        Flag(
            .noStore, "no-store", in: requests,
            help: "Log in for this command only and store nothing"),
        Flag(
            .newKey, "key", value: .text("SOURCE"), in: [.store], storeWords: ["rekey"],
            help:
                "The new key of the store: secret-service, file:PATH, env:VARIABLE or passphrase (--answer passphrase=SOURCE)"
        ),
        Flag(
            .replace, "replace", in: [.store], storeWords: ["import"],
            help: "Replace existing sessions by imported ones"),
        Flag(
            .method, "request", "X", value: .method("METHOD"), in: requests,
            help: "The method; without it GET, or POST with data, or PUT with -T"),
        Flag(
            .header, "header", "H", value: .content("LINE", standardInput: .reference), in: requests, .repeatable,
            help: "\"Name: value\"; \"Name;\" for an empty value; \"Name:\" to leave a line out; @FILE for lines of a file"),
        Flag(
            .user, "user", "u", value: .text("USER", standardInput: .whole), in: requests,
            help:
                "Basic authentication; USER is a name whose password is asked for, or env:VARIABLE, file:PATH or - for name:password"
        ),
        Flag(
            .data, "data", "d", value: .content("DATA", standardInput: .reference), in: requests, [.repeatable, .mayBeEmpty],
            help: "Send a form; @FILE reads a file without its line breaks, @- standard input; several are joined with &"),
        Flag(
            .dataBinary, "data-binary", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "The same, byte for byte"),
        Flag(
            .dataURLEncode, "data-urlencode", value: .content("DATA", standardInput: .reference), in: requests,
            [.repeatable, .mayBeEmpty],
            help: "The same, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE"),
        Flag(
            .jsonData, "json", value: .content("DATA", standardInput: .reference), in: requests, [.repeatable, .mayBeEmpty],
            help: "Send JSON and ask for JSON; @FILE reads a file; several are joined as they are"),
        Flag(
            .get, "get", "G", in: requests,
            help: "Put the data into the query of a GET"),
        Flag(
            .form, "form", "F", value: .text("NAME=CONTENT", standardInput: .reference), in: requests, .repeatable,
            help: "Send a multipart form; @FILE uploads a file, <FILE reads one; ;type= and ;filename= may follow"),
        Flag(
            .uploadFile, "upload-file", "T", value: .file("FILE", standardInput: .whole), in: requests,
            help: "Send a file while reading it; - for standard input"),
        Flag(
            .location, "location", "L", in: sending,
            help: "Follow redirects; credentials stay at the origin they are meant for"),
        Flag(
            .maxRedirects, "max-redirs", value: .text("COUNT"), in: sending,
            help: "Follow at most COUNT redirects (10)"),
        Flag(
            .retry, "retry", value: .text("COUNT"), in: sending,
            help: "Retry up to COUNT times after a transient failure: no connection, a timeout, 408, 429, 500, 502, 503, 504"),
        Flag(
            .compressed, "compressed", in: sending,
            help: "Ask for a compressed response and decompress it"),
        Flag(
            .include, "include", "i", in: sending,
            help: "Print the response's head before its body"),
        Flag(
            .output, "output", "o", value: .file("FILE"), in: sending,
            help: "Write the body to a file, which appears when it is complete"),
        Flag(
            .outputDirectory, "output-dir", value: .folder("FOLDER"), in: sending,
            help: "The folder of --output"),
        Flag(
            .fail, "fail", "f", in: sending,
            help: "Exit with 22 and print no body when the status is 400 or higher"),
        Flag(
            .timing, "timing", in: sending,
            help: "Print on standard error how long each step took"),
        Flag(
            .maxTime, "max-time", "m", value: .text("SECONDS"), in: sending,
            help: "Give up after this time; fractions are allowed"),
        Flag(
            .maxFileSize, "max-filesize", value: .text("BYTES"), in: sending,
            help: "Give up on a response body that is larger"),
        Flag(
            .connectTimeout, "connect-timeout", value: .text("SECONDS"), in: authorizing, .locatesLogin,
            help: "Give up when no connection is established within this time (30)"),
        Flag(
            .proxy, "proxy", "x", value: .url("URL"), in: authorizing, [.mayBeEmpty, .locatesLogin],
            help: "Use this proxy instead of the environment's; an empty URL for none"),
        Flag(
            .caFile, "cacert", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "Trust these certificates (PEM) instead of the system's"),
        Flag(
            .pinnedKey, "pinnedpubkey", value: .text("PINS"), in: authorizing, .locatesLogin,
            help: "Accept only this public key: sha256//BASE64, several with ; or a file"),
        Flag(
            .certificate, "cert", "E", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "Show the server this certificate (PEM)"),
        Flag(
            .key, "key", value: .file("FILE"), in: authorizing, .locatesLogin,
            help: "The private key (PEM) of --cert, if it is in another file"),
        Flag(
            .verbose, "verbose", "v", in: storing,
            help: "Print on standard error what happens; credentials are redacted"),
        Flag(
            .silent, "silent", "s", in: storing,
            help: "Print nothing on standard error; only the exit code reports a failure"),
        Flag(
            .curl, "curl", in: [.sign],
            help: "Print a curl command that sends the request"),
        Flag(
            .json, "json", in: [.inspect, .sessions, .store], storeWords: ["where"],
            help: "Print JSON"),
        Flag(
            .help, "help", "h", in: everywhere, .notInProfile,
            help: "Print this help"),
        Flag(
            .version, "version", "V", in: everywhere, .notInProfile,
            help: "Print the version"),
    ]

    private static let requests: Set<Command> = [.request, .sign]
    private static let authorizing = requests.union([.login, .logout])
    private static let storing = authorizing.union([.sessions, .store])
    private static let sending: Set<Command> = [.request]
    private static let everywhere = Set(Command.allCases)
}

extension Flag {
    struct Traits: OptionSet {
        let rawValue: Int

        static let repeatable = Traits(rawValue: 1 << 0)
        static let mayBeEmpty = Traits(rawValue: 1 << 1)
        static let needsPlugin = Traits(rawValue: 1 << 2)
        static let locatesLogin = Traits(rawValue: 1 << 3)
        static let notInProfile = Traits(rawValue: 1 << 4)
    }
}

extension Flag.Name {
    /// The long spelling, for error texts.
    var spelling: String { Flag.all.first { $0.name == self }?.spellings.last ?? "" }
}
