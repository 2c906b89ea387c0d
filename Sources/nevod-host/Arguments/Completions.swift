import NevodHost

/// Completion scripts, generated from the table of flags, so that they can't fall behind it.
///
/// A plugin's bare name is never looked up in the working directory, and so not completed from there.
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

    /// The folders of a bare name, one a line; the same in bash and zsh. Those beside the executable need its place, which a
    /// shell has from `type -P` or `whence -p`.
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

    /// Reads the names of the config file's sections.
    static let profiles =
        #"sed -n 's/^[[:space:]]*\[[[:space:]]*\([^]]*[^][:space:]]\)[[:space:]]*\].*/\1/p' "#
        + #""${XDG_CONFIG_HOME:-$HOME/.config}/nevod/config" 2>/dev/null"#
}
