extension Completions {
    static var fish: String {
        """
        # fish completion for nevod-host

        function __nevod_host_command
            set -l words (commandline -opc)
            if contains -- "$words[2]" \(Command.words.joined(separator: " "))
                test "$argv[1]" = "$words[2]"
            else
                test "$argv[1]" = request
            end
        end

        function __nevod_host_is_first
            test (count (commandline -opc)) -eq 1
        end

        function __nevod_host_plugins
            set -l word (commandline -ct)
            set word (string replace -r '^(--plugin=|-p)' '' -- $word)
            if string match -q -r '/|^~' -- $word
                __fish_complete_suffix .so
                return
            end
            set -l data $XDG_DATA_HOME ~/.local/share
            set -l folders (string split : -- "$NEVOD_PLUGIN_PATH" | string match '/*') $data[1]/nevod/plugins
            set -a folders /usr/local/lib/nevod/plugins /usr/lib/nevod/plugins
            set -l executable (command -s nevod-host)
            if test -n "$executable"
                set -l beside (path resolve -- $executable | path dirname)
                set -a folders $beside (path dirname -- $beside)/lib/nevod/plugins
            end
            for folder in $folders
                for file in $folder/*.so
                    path basename -- $file
                end
            end
            __fish_complete_directories $word
        end

        function __nevod_host_profiles
            set -l config $XDG_CONFIG_HOME ~/.config
            test -r $config[1]/nevod/config
            and string match -r -g '^\\s*\\[\\s*([^\\]]*[^\\]\\s])\\s*\\]' <$config[1]/nevod/config
        end

        # Asks the program: $argv[1] is the kind of value. The text before the value is kept.
        function __nevod_host_asked
            set -l word (commandline -ct)
            set -l value (string replace -r '^--[a-z-]+=' '' -- $word)
            command nevod-host complete-for-shell $argv[1] (commandline -opc)[2..] "$value" 2>/dev/null
        end

        # Whether the word is the second operand of a command that takes two.
        function __nevod_host_is_second
            set -l words (commandline -opc)
            test (count $words) -eq 3; and test "$words[2]" = "$argv[1]"
        end

        function __nevod_host_content
            set -l word (commandline -ct)
            string match -q -r '(^|=|^-[a-zA-Z])@' -- $word
            and printf '@%s\\n' (__fish_complete_path (string replace -r '^.*?@' '' -- $word))
        end

        complete -c nevod-host -f
        complete -c nevod-host -n __nevod_host_is_first -a 'http:// https://'
        complete -c nevod-host -n '__nevod_host_is_second sessions' -a '(__nevod_host_asked session)'
        complete -c nevod-host -n '__nevod_host_is_second credential' -a '(__nevod_host_asked operation)'
        \(commandLines)
        \(flagLines)

        """
    }

    private static var commandLines: String {
        Command.allCases.map { command in
            guard command == .request else {
                return "complete -c nevod-host -n __nevod_host_is_first -a \(command.rawValue) -d \(fishQuoted(command.summary))"
                    + (command.operandKind == .plugin
                        ? "\ncomplete -c nevod-host -n '__nevod_host_command \(command.rawValue)' -a '(__nevod_host_plugins)'"
                        : "")
                    + (command.operandWords.isEmpty
                        ? ""
                        : "\ncomplete -c nevod-host -n '__nevod_host_command \(command.rawValue)'"
                            + " -a '\(command.operandWords.joined(separator: " "))'")
                    + (command == .profile
                        ? "\ncomplete -c nevod-host -n '__nevod_host_command profile' -a '(__nevod_host_profiles)'" : "")
            }
            return ""
        }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static var flagLines: String {
        Command.allCases.flatMap { command in
            Flag.flags(of: command).map { flag in
                var line = "complete -c nevod-host -n '__nevod_host_command \(command.rawValue)' -l \(flag.long)"
                // A bare # would begin a comment.
                if let short = flag.short { line += short == "#" ? " -s '#'" : " -s \(short)" }
                if let kind = flag.value?.kind { line += " " + fishValue(kind) }
                return line + " -d \(fishQuoted(flag.help))"
            }
        }.joined(separator: "\n")
    }

    private static func fishValue(_ kind: Flag.ValueKind) -> String {
        switch kind {
        case .file: "-r -F"
        case .folder: "-x -a '(__fish_complete_directories)'"
        case .plugin: "-x -a '(__nevod_host_plugins)'"
        case .method: "-x -a '\(methods.joined(separator: " "))'"
        case .profile: "-x -a '(__nevod_host_profiles)'"
        case .language: "-x -a '\(languages.joined(separator: " "))'"
        case .content: "-x -a '(__nevod_host_content)'"
        case .setting, .parameter, .scheme, .account, .format: "-x -a '(__nevod_host_asked \(kind.rawValue))'"
        case .url, .text: "-x"
        }
    }

    /// Escapes `'` and `\`, the only characters that need it within fish's single quotes.
    private static func fishQuoted(_ text: String) -> String {
        "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
