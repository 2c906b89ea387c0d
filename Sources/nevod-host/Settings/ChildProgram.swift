import CLinux
import Glibc
import NevodHost

/// A program that this one starts without a shell.
enum ChildProgram {
    /// Starts a program with this process's environment and default signals, in the same process group, so that it can ask at the
    /// terminal and Ctrl-C reaches it.
    ///
    /// - Parameters:
    ///   - output: the descriptor for its standard output; nil to inherit all three standard streams. With one, its standard input is
    ///     /dev/null.
    /// - Returns: its process id, or errno.
    static func start(_ path: String, _ words: [String], output: Int32?) -> Result<pid_t, Failure> {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        if let output {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        }
        var none = sigset_t()
        sigemptyset(&none)
        var ignored = sigset_t()
        sigemptyset(&ignored)
        sigaddset(&ignored, SIGPIPE)
        sigaddset(&ignored, SIGXFSZ)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var child = pid_t()
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let failure = posix_spawn(&child, path, &actions, &attributes, copies + [nil], environ)
        return failure == 0 ? .success(child) : .failure(Failure(errorNumber: failure))
    }

    struct Failure: Error {
        let errorNumber: Int32
    }

    /// How a program ended.
    enum Ending: Equatable {
        case exit(Int32)
        case signal(Int32)

        init(_ status: Int32) {
            let signal = status & 0x7F
            self = signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
        }

        var description: String {
            switch self {
            case .exit(let code): "ended with the exit status \(code)"
            case .signal(let number): "was ended by the signal \(number) (\(String(cString: strsignal(number))))"
            }
        }
    }
}
