import Glibc
import NevodSupport

/// Keeps descriptors from the children of other tests: with one inherited, a connection would stay open, a pipe would never
/// end. (pipe2 and accept4, which set the flag atomically, are not in Swift's view of glibc; a lock stands in.)
enum Descriptors {
    private static let lock = Locked<Void>(())

    static func make(_ body: () -> [Int32]) {
        lock.withLock { _ in
            for descriptor in body() where descriptor > 2 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        }
    }

    /// Has a child close its descriptors from a number on. (Not in Swift's view of glibc either.)
    ///
    /// - Returns: false if glibc has no such function.
    static func closeFrom(_ first: Int32, in actions: inout posix_spawn_file_actions_t) -> Bool {
        typealias AddCloseFrom = @convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, Int32) -> Int32
        guard let symbol = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np") else { return false }
        return unsafeBitCast(symbol, to: AddCloseFrom.self)(&actions, first) == 0
    }

    static func spawn(_ body: () -> Int32) -> Int32 {
        lock.withLock { _ in body() }
    }
}
