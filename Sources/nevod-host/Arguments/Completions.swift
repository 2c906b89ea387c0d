import NevodHost

/// Completion scripts, generated from the table of flags.
///
/// The working directory offers no bare names of plugins, because plugins are never looked up there.
enum Completions {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    static func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    static let methods = [HTTPMethod.get, .head, .post, .put, .patch, .delete, .options].map(\.rawValue)

    static let languages = ProjectLanguage.allCases.map(\.rawValue)

    /// Shell code for bash and zsh that prints the folders in which bare names are looked up, one for each line.
    ///
    /// - Parameter executable: shell code that prints the executable's path, for the folders beside it.
    static func pluginFolders(executable: String) -> String {
        """
            printf '%s\\n' "${NEVOD_PLUGIN_PATH:-}" | tr : '\\n' | grep '^/'
            printf '%s\\n' "${XDG_DATA_HOME:-$HOME/.local/share}/nevod/plugins" /usr/local/lib/nevod/plugins /usr/lib/nevod/plugins
            local executable
            executable=$(\(executable) 2>/dev/null) || return 0
            executable=$(readlink -f -- "$executable") || return 0
            printf '%s\\n' "${executable%/*}" "${executable%/*/*}/lib/nevod/plugins"
        """
    }

    /// The kinds of values that the scripts ask this program for.
    static let asked: [Flag.ValueKind] = [.setting, .parameter, .scheme, .account, .format]

    /// Shell code that prints the names of the config file's sections.
    static let profiles =
        #"sed -n 's/^[[:space:]]*\[[[:space:]]*\([^]]*[^][:space:]]\)[[:space:]]*\].*/\1/p' "#
        + #""${XDG_CONFIG_HOME:-$HOME/.config}/nevod/config" 2>/dev/null"#
}
