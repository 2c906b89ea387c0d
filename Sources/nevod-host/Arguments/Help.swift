enum Help {
    static func text(for command: Command) -> String {
        let synopsis =
            switch command {
            case .request:
                """
                nevod-host [--plugin NAME] [--set NAME=VALUE]… [options] URL
                nevod-host sign --plugin NAME [--set NAME=VALUE]… [options] URL    print the authorized request instead of sending it
                nevod-host login --plugin NAME|--profile PROFILE [options]         log in and keep the session for later commands
                nevod-host logout --plugin NAME|--profile PROFILE [options]        end a session
                nevod-host sessions [show NAME|forget NAME] [--json]               list the stored sessions; show or remove one
                nevod-host store where|verify|rekey|export|import [FILE]           maintain the store of sessions
                nevod-host inspect NAME [--json]                                   print a plugin's schemes and settings
                nevod-host completions bash|zsh|fish                               print the completions for a shell
                nevod-host manual                                                  print the manual page
                """
            case .sign: "nevod-host sign --plugin NAME [--set NAME=VALUE]… [options] URL"
            case .login: "nevod-host login --plugin NAME|--profile PROFILE [--account ACCOUNT] [options]"
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
            case .inspect: "nevod-host inspect NAME [--json]"
            case .completions: "nevod-host completions bash|zsh|fish"
            case .manual: "nevod-host manual"
            }
        let flags = Flag.flags(of: command)
        let names = flags.map { flag in
            let short = flag.short.map { "-\($0), " } ?? "    "
            return "  \(short)--\(flag.long)\(flag.value.map { " \($0.placeholder)" } ?? "")"
        }
        let width = names.map(\.count).max() ?? 0
        let lines = zip(flags, names).map { flag, name in
            name + String(repeating: " ", count: width - name.count + 2) + flag.help
        }
        let codes = ExitCode.documented.map { code, meaning in
            "  " + String(repeating: " ", count: 3 - String(code).count) + "\(code)  \(meaning)"
        }
        return ([synopsis, "", "Options:"] + lines + ["", "Exit codes:"] + codes).joined(separator: "\n")
    }
}
