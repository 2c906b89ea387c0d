internal import CLinux
internal import Glibc
internal import NevodProcesses

/// The state of the host's process that a plugin must not change.
struct ProcessState {
    var threads: Set<Int32> = []
    /// The open descriptors and what each refers to.
    var descriptors: [Int32: String] = [:]
    /// The action of each signal, as bytes.
    var signals: [Int32: [UInt8]] = [:]
    var mask: [Int32] = []
    var locale = ""
    var environment: [String] = []
    var workingFolder = ""
    var fileMask: mode_t = 0
    var limits: [Int32: [UInt64]] = [:]
    var rounding: Int32 = 0

    static var current: ProcessState {
        var state = ProcessState()
        state.threads = threads()
        state.descriptors = descriptors()
        for number in 1..<Int32(65) {
            var action = Glibc.sigaction()
            if sigaction(number, nil, &action) == 0 {
                state.signals[number] =
                    withUnsafeBytes(of: action.__sigaction_handler) { Array($0) }
                    + withUnsafeBytes(of: action.sa_flags) { Array($0) }
            }
        }
        var mask = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &mask)
        state.mask = (1..<Int32(65)).filter { sigismember(&mask, $0) == 1 }
        state.locale = setlocale(LC_ALL, nil).map { String(cString: $0) } ?? ""
        state.environment = Subprocess.Environment.entries
        if let folder = getcwd(nil, 0) {
            state.workingFolder = String(cString: folder)
            free(folder)
        }
        state.fileMask = umask(0)
        umask(state.fileMask)
        for number in 0..<Int32(16) {
            var limit = rlimit()
            if getrlimit(__rlimit_resource_t(UInt32(number)), &limit) == 0 {
                state.limits[number] = [UInt64(limit.rlim_cur), UInt64(limit.rlim_max)]
            }
        }
        state.rounding = fegetround()
        return state
    }

    static func threads() -> Set<Int32> { Set(names(in: "/proc/self/task").compactMap { Int32($0) }) }

    static func descriptors() -> [Int32: String] {
        var found: [Int32: String] = [:]
        for name in names(in: "/proc/self/fd") {
            var target = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/fd/\(name)", &target, target.count)
            // Skips the descriptor that listed the folder, which is closed by now.
            guard count > 0, let number = Int32(name) else { continue }
            found[number] = String(decoding: target.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return found
    }

    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names.filter { $0 != "." && $0 != ".." }
    }
}

/// Collects the process's output on standard output and standard error while this object exists.
final class CapturedOutput {
    private let file: Int32
    private var saved: [(number: Int32, copy: Int32)] = []

    init() throws {
        file = nevod_memory_file("output")
        guard file >= 0 else { throw CheckStop.skip("a file in memory can't be created") }
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            let copy = nevod_moved_up(dup(number))
            guard copy >= 0, dup2(file, number) == number else { throw CheckStop.skip("standard output can't be redirected") }
            saved.append((number, copy))
        }
    }

    deinit { close(file) }

    /// Restores the descriptors, and returns the output, at most 64 KiB.
    func finish() -> [UInt8] {
        for (number, copy) in saved {
            dup2(copy, number)
            close(copy)
        }
        saved = []
        return [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
        }
    }
}
