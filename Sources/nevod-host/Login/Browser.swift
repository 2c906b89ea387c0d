import Glibc
import NevodHost

/// Opens addresses in a browser, without a shell.
enum Browser {
    /// Starts the first command of `$BROWSER`, a list separated by colons, that can be started; without `$BROWSER`, the desktop's
    /// own if there is a display.
    ///
    /// - Returns: whether a command could be started.
    static func open(_ url: String) -> Bool {
        commands.contains { start($0.filling(url)) }
    }

    /// Whether there is a command that could be started.
    static var isAvailable: Bool {
        !Terminal.isForbidden && commands.contains { executable($0.words[0]) != nil }
    }

    /// Looks a command up in a trusted PATH only: posix_spawnp(3) would take that of any user.
    static func executable(_ name: String) -> String? {
        executable(name, path: trustedEnvironment("PATH") ?? "/usr/bin:/bin")
    }

    private static var commands: [Command] {
        commands(
            named: trustedEnvironment("BROWSER"),
            hasDisplay: ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment($0)?.isEmpty == false })
    }

    /// Looks a command up as posix_spawnp(3) does.
    static func isExecutable(_ name: String, path: String) -> Bool { executable(name, path: path) != nil }

    private static func executable(_ name: String, path: String) -> String? {
        guard !name.utf8.contains(UInt8(ascii: "/")) else { return access(name, X_OK) == 0 ? name : nil }
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
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

    /// POSIX_SPAWN_SETSID, which glibc declares for GNU sources only.
    private static let newSession: Int16 = 0x80
    private static let mostDescriptors: Int32 = 1024

    /// Starts the browser in a process session of its own, so that signals to this process don't close it, and without our
    /// descriptors: standard output belongs to the response.
    private static func start(_ words: [String]) -> Bool {
        guard let program = executable(words[0]) else { return false }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        for descriptor in 3..<Self.mostDescriptors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        var none = sigset_t()
        sigemptyset(&none)
        var ignored = sigset_t()
        sigemptyset(&ignored)
        sigaddset(&ignored, SIGPIPE)
        sigaddset(&ignored, SIGXFSZ)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | Self.newSession)
        var child = pid_t()
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        return posix_spawn(&child, program, &actions, &attributes, copies + [nil], environ) == 0
    }
}
