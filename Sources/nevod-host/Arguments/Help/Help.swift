/// The texts of `--help` and `help TOPIC`, made from the tables of commands, flags, topics and exit codes.
enum Help {
    /// Returns the ways to write a command, one on each line; two spaces or more precede an explanation.
    static func synopsis(of command: Command) -> String {
        let synopsis =
            switch command {
            case .request: "nevod-host [--plugin NAME] [--set NAME=VALUE]… [options] URL"
            case .sign: "nevod-host sign --plugin NAME [--set NAME=VALUE]… [options] URL"
            case .login:
                """
                nevod-host login --plugin NAME|--profile PROFILE [--account ACCOUNT] [options]
                nevod-host login URL [--name PROFILE] [--yes] [--set NAME=VALUE]… [options]     find out how a site logs in
                """
            case .logout: "nevod-host logout --plugin NAME|--profile PROFILE [--account ACCOUNT] [options]"
            case .sessions:
                """
                nevod-host sessions [--json]                                    list them
                nevod-host sessions show NUMBER|ACCOUNT|PROFILE [--json]        print the details of one, without secrets
                nevod-host sessions forget NUMBER|ACCOUNT|PROFILE               remove one here; logout also tells the server
                """
            case .store:
                """
                nevod-host store where [--json]              print the path, the kind of key, and the number of sessions
                nevod-host store verify                      read all of it and report damage
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
                nevod-host credential git [--profile PROFILE] get|store|erase             for credential.helper of git
                nevod-host credential docker [--profile PROFILE] get|list|store|erase     for a program docker-credential-NAME
                nevod-host credential kubectl-exec [--profile PROFILE]                    for users.exec of a kubeconfig
                nevod-host credential netrc --profile PROFILE [--fd NUMBER]               for a program that reads a netrc file
                """
            case .profile:
                """
                nevod-host profile add [NAME] [--url URL] [--plugin NAME] [--set NAME=VALUE]… [--secret-store keyring|file] [options]
                nevod-host profile list [--json]               list the profiles
                nevod-host profile show NAME [--json]          print one without its secrets, and the line of each entry
                nevod-host profile edit                        edit a copy of the config file, which replaces it if it is valid
                nevod-host profile check [NAME]                try plugins, settings and sources of all profiles, or of one
                nevod-host profile remove NAME [--force]       remove one with the secrets kept for it
                nevod-host profile rename NAME NEW-NAME        give one another name
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

    /// Returns the help of one screen: examples, commands and topics.
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

    /// Returns the help for the words behind `help`, or for a command's `--help`.
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
        // A profile may hold most flags of a request, which says nothing about them.
        let commands = flag.commands.contains(.request) ? flag.commands.subtracting([.profile]) : flag.commands
        return commands.elements.map { $0 == .request ? "requests" : $0.rawValue }.sorted().joined(separator: ", ")
    }
}
