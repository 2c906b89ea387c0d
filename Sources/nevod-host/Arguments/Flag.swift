/// A flag of the command line. This table is the only description: parsing and `--help` both come from it.
struct Flag: Sendable {
    enum Name: Sendable {
        case plugin, scheme, set
        case method, header, data, dataBinary, include, output, verbose, silent, maxTime, caFile, fail
        case json, help, version
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

    static let all: [Flag] = [
        Flag(
            .plugin, "plugin", "p", "NAME", in: [.request, .sign],
            "Authorise with this plugin: a path, or a name to look up in the plugin folders"),
        Flag(.scheme, "scheme", nil, "ID", in: [.request, .sign], "Which of the plugin's schemes, if it has several"),
        Flag(
            .set, "set", nil, "NAME=VALUE", in: [.request, .sign],
            "A setting of the scheme; VALUE is a text, env:VARIABLE, file:PATH or - for standard input; a secret is never a text"),
        Flag(.method, "request", "X", "METHOD", in: [.request, .sign], "The method; without it GET, or POST with data"),
        Flag(
            .header, "header", "H", "LINE", in: [.request, .sign],
            "\"Name: value\"; \"Name;\" for an empty value; \"Name:\" to leave a line out; @FILE for lines of a file"),
        Flag(
            .data, "data", "d", "DATA", in: [.request, .sign],
            "Send a form; @FILE reads a file without its line breaks, @- standard input; several are joined with &"),
        Flag(.dataBinary, "data-binary", nil, "DATA", in: [.request, .sign], "The same, byte for byte"),
        Flag(.include, "include", "i", in: [.request], "Print the answer's head before its body"),
        Flag(.output, "output", "o", "FILE", in: [.request], "Write the body to a file"),
        Flag(.fail, "fail", "f", in: [.request], "Exit with 22 and print no body when the status is 400 or higher"),
        Flag(.maxTime, "max-time", "m", "SECONDS", in: [.request], "Give up after this time; fractions are allowed"),
        Flag(.caFile, "cacert", nil, "FILE", in: [.request], "Trust these certificates (PEM) instead of the system's"),
        Flag(.verbose, "verbose", "v", in: [.request, .sign], "Say on standard error what happens; credentials are redacted"),
        Flag(.silent, "silent", "s", in: [.request, .sign], "Say nothing on standard error; the exit code tells"),
        Flag(.json, "json", nil, in: [.inspect], "Print JSON"),
        Flag(.help, "help", "h", in: Set(Command.allCases), "Print this help"),
        Flag(.version, "version", "V", in: Set(Command.allCases), "Print the version"),
    ]
}

enum Command: String, CaseIterable, Sendable {
    /// The default: no word is needed for it.
    case request
    case sign
    case inspect
}
