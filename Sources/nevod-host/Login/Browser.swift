import NevodHost
import NevodProcesses

/// Opens addresses in a browser, without a shell.
enum Browser {
    /// Opens an address with the first command of `$BROWSER`, a list separated by colons, that can be started. Without
    /// `$BROWSER`, uses the desktop's browser if there is a display.
    ///
    /// - Returns: whether a command could be started.
    static func open(_ url: String) -> Bool {
        commands.contains { start($0.filling(url)) }
    }

    /// Whether there is a command that could be started.
    static var isAvailable: Bool {
        !Terminal.isForbidden && commands.contains { ProgramSearch.path(of: $0.words[0]) != nil }
    }

    private static var commands: [Command] {
        commands(
            named: trustedEnvironment("BROWSER"),
            hasDisplay: ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment($0)?.isEmpty == false })
    }

    struct Command: Equatable {
        let words: [String]

        /// Puts the address in place of each `%s`, or appends it as the last word.
        func filling(_ url: String) -> [String] {
            guard words.contains(where: { $0.contains("%s") }) else { return words + [url] }
            return words.map { $0.split(separator: "%s", omittingEmptySubsequences: false).joined(separator: url) }
        }
    }

    static func commands(named names: String?, hasDisplay: Bool) -> [Command] {
        let named = (names ?? "").split(separator: ":").map { Command(words: $0.split(separator: " ").map(String.init)) }
            .filter { !$0.words.isEmpty }
        return named.isEmpty && hasDisplay ? [Command(words: ["xdg-open"])] : named
    }

    /// Starts the browser in its own session, so that signals to this process don't close it, and without our descriptors:
    /// standard output belongs to the response.
    private static func start(_ words: [String]) -> Bool {
        guard let program = ProgramSearch.path(of: words[0]) else { return false }
        return (try? Subprocess(program, words, input: .null, output: .null, errors: .null, group: .session)) != nil
    }
}
