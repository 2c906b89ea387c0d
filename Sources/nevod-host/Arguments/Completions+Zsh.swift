extension Completions {
    static var zsh: String {
        """
        #compdef nevod-host
        # zsh completion for nevod-host

        _nevod_host_plugin_folders() {
        \(pluginFolders(executable: "whence -p nevod-host"))
        }

        _nevod_host_plugins() {
            if [[ $PREFIX != */* && $PREFIX != \\~* ]]; then
                local -a folders names
                folders=("${(@f)$(_nevod_host_plugin_folders)}")
                names=(${^folders}/*.so(N:t))
                compadd -a names
                _path_files -/
                return
            fi
            _path_files -/ -g '*.so'
        }

        _nevod_host_profiles() {
            local -a names
            names=("${(@f)$(\(profiles))}")
            compadd -a names
        }

        _nevod_host_content() {
            compset -P '@' && _files
        }

        # Asks the program: $1 is the kind of value.
        _nevod_host_asked() {
            local -a names open
            names=("${(@f)$(command nevod-host complete-for-shell $1 "${(@Q)_nevod_host_words[2,$_nevod_host_current-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
            names=(${names:#})
            open=(${(M)names:#*[=:]})
            names=(${names:#*[=:]})
            compadd -S '' -a open
            compadd -a names
        }

        # If this were a message, _arguments would offer no flags.
        _nevod_host_urls() {
            compadd -S '' http:// https://
        }

        _nevod_host_commands() {
            local -a commands
            commands=(
        \(commandList)
            )
            _describe command commands
            _nevod_host_urls
        }

        _nevod_host() {
            local operand='1:URL:_nevod_host_urls' command=
            local -a _nevod_host_words=("${words[@]}")
            local _nevod_host_current=$CURRENT
            if (( CURRENT == 2 )); then
                operand='1:URL or command:_nevod_host_commands'
            elif [[ $words[2] == (\(Command.words.joined(separator: "|"))) ]]; then
                command=$words[2]
                shift words
                (( CURRENT-- ))
            fi
            case $command in
        \(specifications)
            esac
        }

        # Works both when loaded from a folder of fpath and when sourced.
        if [[ $funcstack[1] == _nevod_host ]]; then
            _nevod_host "$@"
        else
            compdef _nevod_host nevod-host
        fi

        """
    }

    private static var commandList: String {
        Command.allCases.filter { $0 != .request }.map { "        \(quoted("\($0.rawValue):\($0.summary)"))" }
            .joined(separator: "\n")
    }

    private static var specifications: String {
        Command.allCases.map { command in
            let specifications = Flag.flags(of: command).flatMap(specifications(of:)).map { "                \($0) \\" }
            let words = command.operandWords
            let operand =
                if !words.isEmpty {
                    "'1:word:(\(words.joined(separator: " ")))'" + (second(of: command).map { " '2:\($0)'" } ?? "")
                } else if command == .run {
                    "'1:COMMAND:_command_names -e' '*:ARGUMENT:_files'"
                } else {
                    command.operandKind == .plugin ? "'1:plugin:_nevod_host_plugins'" : "\"$operand\""
                }
            return """
                    \(command == .request ? "''" : command.rawValue))
                        _arguments -s -S \\
                \(specifications.joined(separator: "\n"))
                            \(operand)
                        ;;
                """
        }.joined(separator: "\n")
    }

    private static func second(of command: Command) -> String? {
        switch command {
        case .store: "FILE:_files"
        case .profile: "PROFILE:_nevod_host_profiles"
        case .sessions: "NAME: _nevod_host_asked session"
        case .credential: "OPERATION: _nevod_host_asked operation"
        default: nil
        }
    }

    /// Returns `(-o --output)-o+[help]:FILE:_files` for each spelling. With `+` the value may be attached; with `=` it follows an
    /// equals sign.
    private static func specifications(of flag: Flag) -> [String] {
        let others = flag.isRepeatable ? "*" : flag.spellings.count > 1 ? "(\(flag.spellings.joined(separator: " ")))" : ""
        let help = flag.help.map { "[]\\".contains($0) ? "\\\($0)" : String($0) }.joined()
        return flag.spellings.map { spelling in
            var specification = others + spelling
            if let value = flag.value {
                specification +=
                    "\(spelling.hasPrefix("--") ? "=" : "+")[\(help)]:\(value.placeholder):\(action(for: value.kind))"
            } else {
                specification += "[\(help)]"
            }
            return quoted(specification)
        }
    }

    private static func action(for kind: Flag.ValueKind) -> String {
        switch kind {
        case .file: "_files"
        case .folder: "_path_files -/"
        case .plugin: "_nevod_host_plugins"
        case .method: "(\(methods.joined(separator: " ")))"
        case .profile: "_nevod_host_profiles"
        case .language: "(\(languages.joined(separator: " ")))"
        case .content: "_nevod_host_content"
        case .setting, .parameter, .scheme, .account, .format: " _nevod_host_asked \(kind.rawValue)"
        case .url, .text: " "
        }
    }

    static func quoted(_ text: String) -> String {
        ShellWord.inSingleQuotes(text)
    }
}
