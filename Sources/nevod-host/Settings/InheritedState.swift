import Glibc
import NevodSupport

/// The state that this process got from the one that started it, before it changed any of it: signals, open descriptors, the limit of
/// core files. A program that `run` starts in its place gets the same.
struct InheritedState: Sendable {
    private let ignored: Set<Int32>
    private let blocked: sigset_t
    private let descriptors: Set<Int32>
    let coreLimit: rlimit

    private static let state = Locked<InheritedState?>(nil)

    /// Nil if no command needs it.
    static var captured: InheritedState? { state.withLock(\.self) }

    /// Call before anything is opened, and before any signal is handled. Only `run` pays for it.
    static func capture(_ words: [[UInt8]]) {
        guard words.contains(where: { $0.elementsEqual(Command.run.rawValue.utf8) }) else { return }
        let found = InheritedState()
        state.withLock { $0 = found }
    }

    private init() {
        ignored = Set(Self.signals.filter(Self.isIgnored))
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        blocked = mask
        descriptors = Set(Self.openDescriptors())
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        coreLimit = limit
    }

    /// Restores it, except that descriptors of our own only close when the program is executed.
    func restore() {
        for number in Self.signals { signal(number, ignored.contains(number) ? SIG_IGN : SIG_DFL) }
        for number in Self.openDescriptors() where !descriptors.contains(number) {
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        }
        var limit = coreLimit
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        var mask = blocked
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// Those below the real-time ones, whose handling can be changed.
    private static let signals = (1...31).map(Int32.init).filter { $0 != SIGKILL && $0 != SIGSTOP }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private static func openDescriptors() -> [Int32] {
        guard let folder = opendir("/proc/self/fd") else { return [] }
        defer { closedir(folder) }
        var numbers: [Int32] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if let number = Int32(name), number != dirfd(folder) { numbers.append(number) }
        }
        return numbers
    }
}
