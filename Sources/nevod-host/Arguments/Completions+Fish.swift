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

        function __nevod_host_content
            set -l word (commandline -ct)
            string match -q -r '(^|=|^-[a-zA-Z])@' -- $word
            and printf '@%s\\n' (__fish_complete_path (string replace -r '^.*?@' '' -- $word))
        end

        complete -c nevod-host -f
        complete -c nevod-host -n __nevod_host_is_first -a 'http:// https://'
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
            }
            return ""
        }.filter { !$0.isEmpty }.joined(separator: "\n")
    }

    private static var flagLines: String {
        Command.allCases.flatMap { command in
            Flag.flags(of: command).map { flag in
                var line = "complete -c nevod-host -n '__nevod_host_command \(command.rawValue)' -l \(flag.long)"
                if let short = flag.short { line += " -s \(short)" }
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
        case .content: "-x -a '(__nevod_host_content)'"
        case .url, .text: "-x"
        }
    }

    /// Escapes `'` and `\`, the only two that fish escapes within single quotes.
    private static func fishQuoted(_ text: String) -> String {
        "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
    }
}
