internal import CLinux
internal import Glibc
internal import NevodSupport

/// Reports changes in folders, whichever process makes them. The kernel doesn't report the changes that another machine makes on
/// a network file system.
///
/// One inotify descriptor and one thread serve the whole process, because the kernel limits both for each user. They exist while
/// a folder is watched. If the kernel allows no more, nothing is reported.
final class FolderWatcher: Sendable {
    static let shared = FolderWatcher()

    private struct State {
        var watches = FolderWatches()
        /// The kernel's queue of events, and the descriptor that wakes the thread; nil while there is no thread.
        var queue: (inotify: Int32, wake: Int32)?
    }

    private let state = Locked(State())

    /// Whether a thread is running.
    var isRunning: Bool { state.withLock { $0.queue != nil } }

    /// Watches a folder, which need not exist yet, and may be replaced by another one.
    ///
    /// - Parameters:
    ///   - path: the folder, not a symbolic link.
    ///   - seesWrites: whether files are written in place. Each such write then costs a report.
    ///   - handler: called on the watcher's thread; must not block. Called with `.anything` once a missing folder exists.
    /// - Returns: nil if the system has no descriptor or no thread left.
    func watch(
        _ path: String, seesWrites: Bool = false, _ handler: @escaping @Sendable (FolderChange) -> Void
    ) -> FolderWatch? {
        let names = IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_CLOSE_WRITE
        let mask = UInt32(names | IN_DELETE_SELF | IN_MOVE_SELF) | (seesWrites ? UInt32(IN_MODIFY) : 0)
        let number = state.withLock { state -> Int? in
            guard let queue = state.queue ?? makeQueue() else { return nil }
            let isNew = state.queue == nil
            state.queue = queue
            let number = state.watches.add(path, mask, handler, in: queue.inotify)
            if !isNew, state.watches.isIncomplete { eventfd_write(queue.wake, 1) }
            return number
        }
        return number.map { FolderWatch(self, $0) }
    }

    func remove(_ number: Int) {
        state.withLock { state in
            guard let queue = state.queue else { return }
            state.watches.remove(number, from: queue.inotify)
            if state.watches.isEmpty { eventfd_write(queue.wake, 1) }
        }
    }

    // MARK: The thread

    private func makeQueue() -> (inotify: Int32, wake: Int32)? {
        let inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
        guard inotify >= 0 else { return nil }
        let wake = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wake >= 0, SystemThread.start({ self.run(inotify, wake) }) else {
            close(inotify)
            if wake >= 0 { close(wake) }
            return nil
        }
        return (inotify, wake)
    }

    private func run(_ inotify: Int32, _ wake: Int32) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
        defer { buffer.deallocate() }
        var pause: Int32 = 10
        while true {
            let isIncomplete = state.withLock { $0.watches.isIncomplete }
            var sources = [
                pollfd(fd: inotify, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            ]
            // The kernel has no event for the appearance of a missing folder.
            _ = poll(&sources, 2, isIncomplete ? pause : -1)
            pause = isIncomplete ? min(pause * 2, 2000) : 10
            var number: eventfd_t = 0
            _ = eventfd_read(wake, &number)
            var reports = state.withLock { state -> [(FolderWatches.Handler, FolderChange)]? in
                guard !state.watches.isEmpty else {
                    state.queue = nil
                    close(inotify)
                    close(wake)
                    return nil
                }
                return isIncomplete ? state.watches.placeRest(in: inotify) : []
            }
            guard reports != nil else { return }
            while case let count = read(inotify, buffer.baseAddress, buffer.count), count > 0 {
                let events = InotifyEvent.events(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
                state.withLock { state in
                    for event in events { reports?.append(contentsOf: state.watches.take(event, in: inotify)) }
                }
                // Handlers take locks of their own, and may release the last reference to a watch.
                for (handler, change) in reports ?? [] { handler(change) }
                reports = []
            }
            for (handler, change) in reports ?? [] { handler(change) }
        }
    }
}

/// A folder that is being watched, until this object is released.
final class FolderWatch: StorageActivity {
    private let watcher: FolderWatcher
    private let number: Int

    init(_ watcher: FolderWatcher, _ number: Int) {
        self.watcher = watcher
        self.number = number
    }

    deinit {
        watcher.remove(number)
    }
}

/// A change that a ``FolderWatcher`` reports.
enum FolderChange: Sendable, Hashable {
    /// A file's content has changed in place.
    case written(String)
    /// A name was added, removed, or given to another file.
    case renamed(String)
    /// Anything may have changed: the folder was replaced, or the system has dropped reports.
    case anything
}
