/// A flag of the command line. This table is the only description: parsing and `--help` both come from it.
struct Flag: Sendable {
    enum Name: Sendable {
        case plugin, scheme, set, answer, profile
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
    /// What the value is called in the help; nil for a flag without one.
    let value: String?
    let help: String
    let commands: Set<Command>

    init(
        _ name: Name, _ long: String, _ short: Character? = nil, _ value: String? = nil, in commands: Set<Command>, _ help: String
    ) {
        self.name = name
        self.long = long
        self.short = short
        self.value = value
        self.help = help
        self.commands = commands
    }

    /// An empty text is a body; an empty name of a file is a mistake.
    var mayBeEmpty: Bool { [.data, .dataBinary, .dataURLEncode, .jsonData, .proxy, .account].contains(name) }

    static let all: [Flag] = [
        Flag(
            .plugin, "plugin", "p", "NAME", in: authorizing,
            "Authorise with this plugin: a path, or a name to look up in the plugin folders"),
        Flag(.scheme, "scheme", nil, "ID", in: authorizing, "Which of the plugin's schemes, if it has several"),
        Flag(
            .set, "set", nil, "NAME=VALUE", in: authorizing,
            "A setting of the scheme; VALUE is a text, env:VARIABLE, file:PATH or - for standard input; a secret is never a text"),
        Flag(
            .answer, "answer", nil, "NAME=SOURCE", in: storing,
            "Answer a login's question: env:VARIABLE, file:PATH, - or, unless it is secret, a text; once each time it is given"),
        Flag(
            .profile, "profile", nil, "PROFILE", in: storing,
            "Take flags and the base of relative URLs from this section of the config file"),
        Flag(
            .account, "account", nil, "ACCOUNT", in: authorizing,
            "Which of several sessions of one scheme, or the name to keep a new one under; without it, the one that there is"),
        Flag(
            .store, "store", nil, "PATH", in: storing,
            "Keep sessions in this file, or at postgresql://USER@HOST/DATABASE, instead of $NEVOD_HOST_STORE or ~/.local/share/nevod-host/sessions.db"
        ),
        Flag(
            .storeKey, "store-key", nil, "SOURCE", in: storing,
            "What seals the store: secret-service, file:PATH, passphrase (--answer store-passphrase=SOURCE) or env:VARIABLE; without it, a new one is sealed by the keyring or a key file"
        ),
        Flag(.noStore, "no-store", nil, in: requests, "Log in for this command alone, and keep nothing"),
        Flag(
            .newKey, "key", nil, "SOURCE", in: [.store],
            "What is to seal it from now on: secret-service, file:PATH, env:VARIABLE or passphrase (--answer passphrase=SOURCE)"),
        Flag(.replace, "replace", nil, in: [.store], "Let imported sessions take the place of those that there are"),
        Flag(.method, "request", "X", "METHOD", in: requests, "The method; without it GET, or POST with data, or PUT with -T"),
        Flag(
            .header, "header", "H", "LINE", in: requests,
            "\"Name: value\"; \"Name;\" for an empty value; \"Name:\" to leave a line out; @FILE for lines of a file"),
        Flag(
            .user, "user", "u", "USER", in: requests,
            "Basic authentication; the password is asked for; or env:VARIABLE, file:PATH or - for name:password"),
        Flag(
            .data, "data", "d", "DATA", in: requests,
            "Send a form; @FILE reads a file without its line breaks, @- standard input; several are joined with &"),
        Flag(.dataBinary, "data-binary", nil, "DATA", in: requests, "The same, byte for byte"),
        Flag(
            .dataURLEncode, "data-urlencode", nil, "DATA", in: requests,
            "The same, percent-encoded: TEXT, =TEXT, NAME=TEXT, @FILE or NAME@FILE"),
        Flag(
            .jsonData, "json", nil, "DATA", in: requests,
            "Send JSON and ask for JSON; @FILE reads a file; several are joined as they are"),
        Flag(.get, "get", "G", in: requests, "Put the data into the query of a GET"),
        Flag(
            .form, "form", "F", "NAME=CONTENT", in: requests,
            "Send a multipart form; @FILE uploads a file, <FILE reads one; ;type= and ;filename= may follow"),
        Flag(.uploadFile, "upload-file", "T", "FILE", in: requests, "Send a file while reading it; - for standard input"),
        Flag(.location, "location", "L", in: [.request], "Follow redirects; credentials stay at the origin they are meant for"),
        Flag(.maxRedirects, "max-redirs", nil, "COUNT", in: [.request], "Follow at most so many (10)"),
        Flag(
            .retry, "retry", nil, "COUNT", in: [.request],
            "Try again after a failure that may pass: a time-out, 408, 429, 500, 502, 503, 504"),
        Flag(.compressed, "compressed", nil, in: [.request], "Ask for a compressed answer and decompress it"),
        Flag(.include, "include", "i", in: [.request], "Print the answer's head before its body"),
        Flag(.output, "output", "o", "FILE", in: [.request], "Write the body to a file, which appears when it is complete"),
        Flag(.outputDirectory, "output-dir", nil, "FOLDER", in: [.request], "The folder of --output"),
        Flag(.fail, "fail", "f", in: [.request], "Exit with 22 and print no body when the status is 400 or higher"),
        Flag(.timing, "timing", nil, in: [.request], "Say on standard error where the time went"),
        Flag(.maxTime, "max-time", "m", "SECONDS", in: [.request], "Give up after this time; fractions are allowed"),
        Flag(.maxFileSize, "max-filesize", nil, "BYTES", in: [.request], "Give up on a body that is larger"),
        Flag(
            .connectTimeout, "connect-timeout", nil, "SECONDS", in: authorizing,
            "Give up when no connection stands after this time (30)"),
        Flag(
            .proxy, "proxy", "x", "URL", in: authorizing,
            "Go through this proxy instead of the environment's; an empty URL for none"),
        Flag(.caFile, "cacert", nil, "FILE", in: authorizing, "Trust these certificates (PEM) instead of the system's"),
        Flag(
            .pinnedKey, "pinnedpubkey", nil, "PINS", in: authorizing,
            "Accept only this public key: sha256//BASE64, several with ; or a file"),
        Flag(.certificate, "cert", "E", "FILE", in: authorizing, "Show the server this certificate (PEM)"),
        Flag(.key, "key", nil, "FILE", in: authorizing, "Its private key (PEM), if it is not in the same file"),
        Flag(.verbose, "verbose", "v", in: storing, "Say on standard error what happens; credentials are redacted"),
        Flag(.silent, "silent", "s", in: storing, "Say nothing on standard error; the exit code tells"),
        Flag(.curl, "curl", nil, in: [.sign], "Print a curl command that sends the request"),
        Flag(.json, "json", nil, in: [.inspect, .sessions, .store], "Print JSON"),
        Flag(.help, "help", "h", in: Set(Command.allCases), "Print this help"),
        Flag(.version, "version", "V", in: Set(Command.allCases), "Print the version"),
    ]

    private static let requests: Set<Command> = [.request, .sign]
    private static let authorizing = requests.union([.login, .logout])
    private static let storing = authorizing.union([.sessions, .store])
}

enum Command: String, CaseIterable, Sendable {
    /// The default: no word is needed for it.
    case request
    case sign
    case login
    case logout
    case sessions
    case store
    case inspect
    case completions
    case manual
}
