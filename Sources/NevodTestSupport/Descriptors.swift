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

    static func spawn(_ body: () -> Int32) -> Int32 {
        lock.withLock { _ in body() }
    }
}
