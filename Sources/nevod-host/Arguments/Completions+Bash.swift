extension Completions {
    static var bash: String {
        """
        # bash completion for nevod-host

        # The kind of a flag's value, by command; empty for a flag without a value.
        _nevod_host_kind() {
            case "$1 $2" in
        \(kinds)
                *) REPLY= ;;
            esac
        }

        _nevod_host_plugin_folders() {
        \(pluginFolders(executable: "type -P nevod-host"))
        }

        _nevod_host_plugins() {
            local folder file
            if [[ $1 == */* || $1 == "~"* ]]; then
                compgen -f -X '!*.so' -- "$1"
            else
                while IFS= read -r folder; do
                    for file in "$folder/$1"*.so; do
                        [[ -f $file ]] && printf '%s\\n' "${file##*/}"
                    done
                done < <(_nevod_host_plugin_folders) | sort -u
            fi
            compgen -d -- "$1"
        }

        _nevod_host() {
            # Bash splits words at = : and @. This joins them again, as they were typed.
            local -a words=()
            local rest=$COMP_LINE piece index
            for ((index = 0; index <= COMP_CWORD; index++)); do
                piece=${COMP_WORDS[index]}
                if ((index > 0)) && [[ -n $rest && $rest != [[:space:]]* ]]; then
                    words[${#words[@]} - 1]+=$piece
                else
                    rest=${rest#"${rest%%[![:space:]]*}"}
                    words+=("$piece")
                fi
                rest=${rest#"$piece"}
            done

            local last=$((${#words[@]} - 1)) command=request kind= REPLY= ended= operands=0 start=1 letter
            local word=${words[last]}
            if ((last > 1)); then
                case ${words[1]} in
                    \(Command.words.joined(separator: "|"))) command=${words[1]} start=2 ;;
                esac
            fi
            for ((index = start; index < last; index++)); do
                piece=${words[index]}
                if [[ -n $kind ]]; then
                    kind=
                elif [[ -n $ended || $piece == - || $piece != -* ]]; then
                    ((operands++))
                elif [[ $piece == -- ]]; then
                    ended=1
                elif [[ $piece == --* ]]; then
                    [[ $piece == *=* ]] || { _nevod_host_kind "$command" "$piece"; kind=$REPLY; }
                else
                    # Letters may be joined; the first one with a value takes the rest.
                    for ((letter = 1; letter < ${#piece}; letter++)); do
                        _nevod_host_kind "$command" "-${piece:letter:1}"
                        [[ -n $REPLY ]] || continue
                        ((letter == ${#piece} - 1)) && kind=$REPLY
                        break
                    done
                fi
            done

            local lead= value=$word
            if [[ -z $kind ]]; then
                if [[ -z $ended && $word == --*=* ]]; then
                    _nevod_host_kind "$command" "${word%%=*}"
                    kind=$REPLY lead=${word%%=*}= value=${word#*=}
                elif [[ -z $ended && $word == -* ]]; then
                    kind=flag
                elif ((operands == 0)); then
                    kind=operand
                elif [[ $command == store ]] && ((operands == 1)); then
                    kind=file
                elif [[ $command == sessions ]] && ((operands == 1)); then
                    kind=session
                elif [[ $command == credential ]] && ((operands == 1)); then
                    kind=operation
                elif [[ $command == run ]]; then
                    kind=file
                elif [[ $command == profile ]] && ((operands == 1)); then
                    kind=profile
                fi
            fi
            if [[ $kind == content ]]; then
                [[ $value == @* ]] || return 0
                lead+=@ value=${value#@}
            fi

            local -a found=()
            case $kind in
                flag)
                    local flags
                    case $command in
        \(flagLists)
                    esac
                    mapfile -t found < <(compgen -W "$flags" -- "$value")
                    ;;
                operand)
                    case $command in
        \(operandKinds)
                    esac
                    if [[ $kind == plugin ]]; then
                        mapfile -t found < <(_nevod_host_plugins "$value")
                    elif ((last == 1)); then
                        mapfile -t found < <(compgen -W "\(Command.words.joined(separator: " ")) http:// https://" -- "$value")
                        [[ ${#found[@]} -gt 0 && ${found[0]} == http* ]] && compopt -o nospace 2>/dev/null
                    fi
                    ;;
                file) mapfile -t found < <(compgen -f -- "$value") ;;
                content)
                    # Bash doesn't know that a file follows the @, so it neither quotes nor marks the completion.
                    while IFS= read -r piece; do
                        [[ -d $piece ]] && piece+=/ && compopt -o nospace 2>/dev/null
                        printf -v piece %q "$piece"
                        found+=("$piece")
                    done < <(compgen -f -- "$value")
                    ;;
                folder) mapfile -t found < <(compgen -d -- "$value") ;;
                plugin) mapfile -t found < <(_nevod_host_plugins "$value") ;;
                language) mapfile -t found < <(compgen -W "\(languages.joined(separator: " "))" -- "$value") ;;
                \((asked.map(\.rawValue) + ["session", "operation"]).joined(separator: " | ")))
                    while IFS= read -r piece; do
                        [[ $piece == "$value"* ]] || continue
                        [[ $piece == *[=:] ]] && compopt -o nospace 2>/dev/null
                        printf -v piece %q "$piece"
                        found+=("$piece")
                    done < <(command nevod-host complete-for-shell "$kind" "${words[@]:1:last-1}" "$value" 2>/dev/null)
                    ;;
                method) mapfile -t found < <(compgen -W "\(methods.joined(separator: " "))" -- "$value") ;;
                profile)
                    while IFS= read -r piece; do
                        [[ $piece == "$value"* ]] || continue
                        printf -v piece %q "$piece"
                        found+=("$piece")
                    done < <(\(profiles))
                    ;;
            esac
            case $kind in
                file | folder | plugin) compopt -o filenames 2>/dev/null ;;
            esac

            # Bash replaces the text after its last split; an @ is replaced together with what follows it.
            local cut= full=
            for piece in = :; do
                [[ $COMP_WORDBREAKS == *"$piece"* && $word == *"$piece"* && ${word%"$piece"*} == "$cut"* ]] || continue
                cut=${word%"${word##*"$piece"}"}
            done
            [[ $COMP_WORDBREAKS == *@* && ${word#"$cut"} == *@* ]] && cut=${word%@*}
            COMPREPLY=()
            for piece in "${found[@]}"; do
                full=$lead$piece
                COMPREPLY+=("${full#"$cut"}")
            done
            return 0
        }

        complete -F _nevod_host nevod-host

        """
    }

    private static var kinds: String {
        Command.allCases.flatMap { command in
            Flag.ValueKind.allCases.compactMap { kind in
                let patterns = Flag.flags(of: command).filter { $0.value?.kind == kind }.flatMap(\.spellings).map {
                    "\"\(command.rawValue) \($0)\""
                }
                return patterns.isEmpty ? nil : "        \(patterns.joined(separator: " | "))) REPLY=\(kind.rawValue) ;;"
            }
        }.joined(separator: "\n")
    }

    private static var flagLists: String {
        Command.allCases.map { command in
            "                \(command.rawValue)) flags=\"\(Flag.flags(of: command).flatMap(\.spellings).joined(separator: " "))\" ;;"
        }.joined(separator: "\n")
    }

    private static var operandKinds: String {
        Command.allCases.map { command in
            let words = command.operandWords.joined(separator: " ")
            let found = words.isEmpty ? "" : "; mapfile -t found < <(compgen -W \"\(words)\" -- \"$value\")"
            return "                \(command.rawValue)) kind=\(command.operandKind.rawValue)\(found) ;;"
        }.joined(separator: "\n")
    }
}
