/// The texts of `--help` and `help TOPIC`, made from the tables of commands, flags, topics and exit codes.
enum Help {
    /// Returns the forms of a command, one on each line. Two or more spaces separate a form from its explanation.
    static func synopsis(of command: Command) -> String {
        let synopsis =
            switch command {
            case .request: "nevod-host [--plugin NAME] [--set NAME=VALUE]… [options] URL"
            case .sign: "nevod-host sign --plugin NAME [--set NAME=VALUE]… [options] URL"
            case .login:
                """
                nevod-host login --plugin NAME|--profile PROFILE [--account ACCOUNT] [options]
                nevod-host login URL [--name PROFILE] [--yes] [--set NAME=VALUE]… [options]     find out how a site logs in, and log in
                """
            case .logout: "nevod-host logout --plugin NAME|--profile PROFILE [--account ACCOUNT] [options]"
            case .sessions:
                """
                nevod-host sessions [--json]                                    list the sessions
                nevod-host sessions show NUMBER|ACCOUNT|PROFILE [--json]        print the details of one, without secrets
                nevod-host sessions forget NUMBER|ACCOUNT|PROFILE               remove one from the store; logout tells the server, too
                """
            case .store:
                """
                nevod-host store where [--json]              print the path, the kind of key, and the number of sessions
                nevod-host store verify                      check the whole store for damage
                nevod-host store rekey --key SOURCE          seal everything with another key
                nevod-host store export FILE                 write a copy sealed by a passphrase
                nevod-host store import FILE [--replace]     import such a copy
                """
            case .header:
                "nevod-host header --plugin NAME|--profile PROFILE [--format lines|json|netrc|curl] [--fd NUMBER] [options] [URL]"
            case .run:
                "nevod-host run --plugin NAME|--profile PROFILE [--env NAME] [--env-header NAME] [options] -- COMMAND [ARGUMENT]…"
            case .credential:
                """
                nevod-host credential git [--profile PROFILE] get|store|erase             for git's credential.helper
                nevod-host credential docker [--profile PROFILE] get|list|store|erase     for a program named docker-credential-NAME
                nevod-host credential kubectl-exec [--profile PROFILE]                    for users.exec in a kubeconfig
                nevod-host credential netrc --profile PROFILE [--fd NUMBER]               for a program that reads a netrc file
                """
            case .profile:
                """
                nevod-host profile add [NAME] [--url URL] [--plugin NAME] [--set NAME=VALUE]… [--secret-store keyring|file] [options]
                nevod-host profile list [--json]               list the profiles
                nevod-host profile show NAME [--json]          print one without its secrets, and the line of each entry
                nevod-host profile edit                        edit a copy of the config file, and install it if it is valid
                nevod-host profile check [NAME]                test the plugins, settings and sources of all profiles, or of one
                nevod-host profile remove NAME [--force]       remove one, with the secrets kept for it
                nevod-host profile rename NAME NEW-NAME        rename one
                nevod-host profile default [NAME|none]         print or choose the profile for relative URLs
                """
            case .record: "nevod-host record [--keep-secrets] [--force] FILE [sign|login|logout] [options] [URL]"
            case .replay: "nevod-host replay FILE --plugin NAME"
            case .inspect: "nevod-host inspect NAME [--json]"
            case .check: "nevod-host check NAME [--scheme ID] [--set NAME=VALUE]… [--only REGEX] [--skip REGEX] [options]"
            case .new: "nevod-host new NAME --language swift|c|cpp|rust|go [--flow] [--kit SOURCE]"
            case .completions: "nevod-host completions bash|zsh|fish"
            case .manual: "nevod-host manual"
            case .help: "nevod-host help [TOPIC|COMMAND|OPTION|all]"
            }
        return synopsis
    }

    /// Returns help that fits on one screen: examples, commands and topics.
    static func short(_ layout: TextLayout) -> String {
        let commands = Command.allCases.filter { $0 != .request }.map { ($0.rawValue, $0.summary) }
        return [
            "nevod-host: requests like curl's, and plugins that log in for them",
            "Usage: nevod-host [options] URL, or nevod-host COMMAND [options]",
            "Examples:\n" + layout.definitions(HelpExample.all(of: .request).map { ($0.command, $0.meaning) }, widest: 52),
            "Commands:\n" + layout.definitions(commands),
            layout.paragraph("Topics for nevod-host help TOPIC: " + HelpTopic.all.map(\.name).joined(separator: ", ") + "."),
            layout.paragraph(
                "nevod-host COMMAND --help explains a command, nevod-host help --retry an option, and nevod-host help all prints "
                    + "everything."),
        ].joined(separator: "\n\n") + "\n"
    }

    /// Returns the help of a command: examples, synopsis and options.
    static func text(for command: Command, _ layout: TextLayout) -> String {
        var parts = [layout.paragraph("nevod-host\(command == .request ? "" : " \(command.rawValue)"): \(command.summary)")]
        let examples = HelpExample.all(of: command).map { ($0.command, $0.meaning) }
        if !examples.isEmpty { parts.append("Examples:\n" + layout.definitions(examples, widest: 52)) }
        parts.append("Usage:\n" + layout.lines(synopsis(of: command)))
        for group in FlagGroup.all {
            let flags = group.flags.filter { $0.commands.contains(command) }
            if !flags.isEmpty { parts.append("\(group.title):\n" + layout.definitions(flags.map(definition))) }
        }
        parts.append(layout.paragraph("Exit codes: nevod-host help exit-codes. More: nevod-host help."))
        return parts.joined(separator: "\n\n") + "\n"
    }

    /// Returns the help for the words after `help`, or for a command's `--help`.
    static func text(for arguments: Arguments, _ layout: TextLayout) throws(UsageError) -> String {
        guard arguments.command == .help, !arguments.has(.help) else {
            let isShort = arguments.command == .request && arguments.operands.isEmpty
            return isShort ? short(layout) : text(for: arguments.command, layout)
        }
        guard arguments.operands.count <= 1 else {
            throw UsageError("help takes one topic, command or option: nevod-host help TOPIC")
        }
        return try arguments.operands.first.map { word throws(UsageError) in try text(about: word, layout) } ?? short(layout)
    }

    /// - Parameter word: a topic, a command, an option with or without its dashes, or `all`.
    static func text(about word: String, _ layout: TextLayout) throws(UsageError) -> String {
        if word == "all" { return all(layout) }
        if let topic = HelpTopic.all.first(where: { $0.name == word }) { return topic.text(layout) }
        if let command = Command(rawValue: word) { return text(for: command, layout) }
        var bare = word[...]
        while bare.hasPrefix("-") { bare.removeFirst() }
        let flags = Flag.all.filter { flag in
            word.hasPrefix("-") && !word.hasPrefix("--") && bare.count == 1 ? flag.short == bare.first : flag.long == bare
        }
        guard flags.isEmpty else {
            return flags.map { flag in
                let group = FlagGroup.all.first { $0.flags.contains { $0.name == flag.name } }
                return layout.definitions([definition(flag)])
                    + "\n\n"
                    + layout.paragraph("For \(owners(of: flag))." + (group.map { " See nevod-host help \($0.name)." } ?? ""))
            }.joined(separator: "\n\n") + "\n"
        }
        let known = HelpTopic.all.map(\.name) + Command.words + Flag.all.map(\.long) + ["all"]
        let hint = Suggestions.hint(for: String(bare), among: known)
        throw UsageError(
            "there is no help on \"\(word)\"\(hint.isEmpty ? "; the topics are \(HelpTopic.all.map(\.name).joined(separator: ", "))" : hint)"
        )
    }

    private static func all(_ layout: TextLayout) -> String {
        ([short(layout)]
            + Command.allCases.filter { $0 != .request }.map { command in
                "\(command.rawValue): \(command.summary)\n\n" + layout.lines(synopsis(of: command)) + "\n"
            } + HelpTopic.all.map { $0.text(layout) }).joined(separator: "\n")
    }

    /// Returns a flag's spellings with its value, and its help.
    static func definition(_ flag: Flag) -> (String, String) {
        let short = flag.short.map { "-\($0), " } ?? "    "
        let alias = flag.alias.map { ", --\($0)" } ?? ""
        return ("\(short)--\(flag.long)\(alias)\(flag.value.map { " \($0.placeholder)" } ?? "")", flag.help)
    }

    /// Names the commands that take a flag.
    static func owners(of flag: Flag) -> String {
        if flag.commands == Flag.everywhere { return "all commands" }
        // A profile may hold most flags of a request, so `profile` would say nothing.
        let commands = flag.commands.contains(.request) ? flag.commands.subtracting([.profile]) : flag.commands
        return commands.elements.map { $0 == .request ? "requests" : $0.rawValue }.sorted().joined(separator: ", ")
    }
}

/// A command line that shows what a command is for.
struct HelpExample: Sendable {
    let command: String
    /// What the command line is for, in a few words.
    let meaning: String

    private init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }

    static func all(of command: Command) -> [HelpExample] { table[command.rawValue] ?? [] }

    /// The examples by the command's name. The manual page shows all of them.
    private static let table: [String: [HelpExample]] = [
        "request": [
            HelpExample("nevod-host -i https://example.com/", "the head and the body"),
            HelpExample("nevod-host --json '{\"a\":1}' https://example.com/", "send JSON"),
            HelpExample("nevod-host -L -o page.html https://example.com/", "save the body to a file"),
            HelpExample("nevod-host login --profile work", "log in and stay logged in"),
            HelpExample("nevod-host --profile work /orders", "a request with that login"),
            HelpExample("nevod-host sign --curl --profile work /orders", "print it as a curl command"),
        ],
        "sign": [
            HelpExample("nevod-host sign --profile work /orders", "the request with its credential"),
            HelpExample("nevod-host sign --curl --profile work /orders", "as a curl command"),
        ],
        "login": [
            HelpExample("nevod-host login --profile work", "with the settings of a profile"),
            HelpExample("nevod-host login -p Cookie --set login=https://example.com/in", "with settings of your own"),
            HelpExample("nevod-host login --profile work --account ada", "one of several accounts"),
            HelpExample("nevod-host login https://site.example/", "find out how, and write a profile for it"),
        ],
        "logout": [HelpExample("nevod-host logout --profile work", "at the server and here")],
        "sessions": [
            HelpExample("nevod-host sessions", "list all"),
            HelpExample("nevod-host sessions show 1", "details of the first"),
            HelpExample("nevod-host sessions forget 1", "remove it here only"),
        ],
        "store": [
            HelpExample("nevod-host store where", "the path and the kind of key"),
            HelpExample("nevod-host store verify", "look for damage"),
            HelpExample("nevod-host store export ~/sessions.copy", "for another machine"),
        ],
        "profile": [
            HelpExample("nevod-host profile add work", "asks for what it needs"),
            HelpExample("nevod-host profile list", "list the profiles"),
            HelpExample("nevod-host profile check work", "check that it works"),
        ],
        "header": [
            HelpExample("nevod-host header --profile work https://example.com/", "the header lines for one request")
        ],
        "run": [
            HelpExample("nevod-host run --profile work -- make deploy", "with a token in its environment")
        ],
        "credential": [
            HelpExample("nevod-host credential git --profile work get", "as git's credential helper")
        ],
        "record": [
            HelpExample("nevod-host record login.rec login --profile work", "record the plugin's calls")
        ],
        "replay": [HelpExample("nevod-host replay login.rec --plugin ./libMine.so", "repeat them with another build")],
        "inspect": [
            HelpExample("nevod-host inspect HMACAuth", "schemes and settings"),
            HelpExample("nevod-host inspect ./libMine.so --json", "the same, for a program"),
        ],
        "check": [
            HelpExample("nevod-host check ./libMine.so", "with generated settings"),
            HelpExample("nevod-host check ./libMine.so --list", "list the checks"),
        ],
        "new": [
            HelpExample("nevod-host new Mine --language swift", "a scheme that signs, as an example"),
            HelpExample("nevod-host new Mine --language c --flow", "with a login"),
        ],
        "completions": [HelpExample("source <(nevod-host completions bash)", "enable completion in this shell")],
        "manual": [HelpExample("nevod-host manual | man -l -", "read the manual page")],
        "help": [
            HelpExample("nevod-host help secrets", "a topic"),
            HelpExample("nevod-host help --retry", "an option"),
            HelpExample("nevod-host help login", "a command"),
        ],
    ]
}
