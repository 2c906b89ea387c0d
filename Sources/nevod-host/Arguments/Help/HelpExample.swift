/// A command line that shows what a command is for.
struct HelpExample: Sendable {
    let command: String
    /// A few words.
    let meaning: String

    private init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }

    static func all(of command: Command) -> [HelpExample] { table[command.rawValue] ?? [] }

    /// By the command's word; the manual page has them all.
    private static let table: [String: [HelpExample]] = [
        "request": [
            HelpExample("nevod-host -i https://example.com/", "the head and the body"),
            HelpExample("nevod-host --json '{\"a\":1}' https://example.com/", "send JSON"),
            HelpExample("nevod-host -L -o page.html https://example.com/", "save it"),
            HelpExample("nevod-host login --profile work", "log in, stay logged in"),
            HelpExample("nevod-host --profile work /orders", "a request with that login"),
            HelpExample("nevod-host sign --curl --profile work /orders", "print it for curl"),
        ],
        "sign": [
            HelpExample("nevod-host sign --profile work /orders", "the request with its credential"),
            HelpExample("nevod-host sign --curl --profile work /orders", "as a curl command"),
        ],
        "login": [
            HelpExample("nevod-host login --profile work", "with the settings of a profile"),
            HelpExample("nevod-host login -p Cookie --set login=https://example.com/in", "with settings of its own"),
            HelpExample("nevod-host login --profile work --account ada", "one of several accounts"),
            HelpExample("nevod-host login https://site.example/", "find out how, and write a profile"),
        ],
        "logout": [HelpExample("nevod-host logout --profile work", "at the server and here")],
        "sessions": [
            HelpExample("nevod-host sessions", "a table of all"),
            HelpExample("nevod-host sessions show 1", "more on the first"),
            HelpExample("nevod-host sessions forget 1", "remove it here only"),
        ],
        "store": [
            HelpExample("nevod-host store where", "the path and the kind of key"),
            HelpExample("nevod-host store verify", "look for damage"),
            HelpExample("nevod-host store export ~/sessions.copy", "for another machine"),
        ],
        "profile": [
            HelpExample("nevod-host profile add work", "asks for what it needs"),
            HelpExample("nevod-host profile list", "the profiles there are"),
            HelpExample("nevod-host profile check work", "whether it can be used"),
        ],
        "header": [
            HelpExample("nevod-host header --profile work https://example.com/", "the lines of one request")
        ],
        "run": [
            HelpExample("nevod-host run --profile work -- make deploy", "a token in its environment")
        ],
        "credential": [
            HelpExample("nevod-host credential git --profile work get", "as a helper of git")
        ],
        "record": [
            HelpExample("nevod-host record login.rec login --profile work", "what the plugin does")
        ],
        "replay": [HelpExample("nevod-host replay login.rec --plugin ./libMine.so", "the same calls again")],
        "inspect": [
            HelpExample("nevod-host inspect HMACAuth", "schemes and settings"),
            HelpExample("nevod-host inspect ./libMine.so --json", "the same, for a program"),
        ],
        "check": [
            HelpExample("nevod-host check ./libMine.so", "with settings that it finds"),
            HelpExample("nevod-host check ./libMine.so --list", "the checks there are"),
        ],
        "new": [
            HelpExample("nevod-host new Mine --language swift", "a signature, as an example"),
            HelpExample("nevod-host new Mine --language c --flow", "with a login"),
        ],
        "completions": [HelpExample("source <(nevod-host completions bash)", "for this shell")],
        "manual": [HelpExample("nevod-host manual | man -l -", "read it")],
        "help": [
            HelpExample("nevod-host help secrets", "a topic"),
            HelpExample("nevod-host help --retry", "an option"),
            HelpExample("nevod-host help login", "a command"),
        ],
    ]
}
