internal import Glibc

/// The folders that are watched, and the meaning of the kernel's events for each. This is the state of a ``FolderWatcher``,
/// without its thread.
struct FolderWatches {
    typealias Handler = @Sendable (FolderChange) -> Void

    private struct Watch {
        let path: String
        let mask: UInt32
        let handler: Handler
        /// The kernel's number of the folder; nil while the folder can't be watched.
        var folder: Int32?
    }

    private var watches: [Int: Watch] = [:]
    private var next = 0
    /// The watches of each folder. The kernel gives all watches of a process on one folder the same number.
    private var numbers: [Int32: Set<Int>] = [:]

    var isEmpty: Bool { watches.isEmpty }
    /// Whether at least one folder can't be watched at present.
    var isIncomplete: Bool { watches.values.contains { $0.folder == nil } }

    mutating func add(_ path: String, _ mask: UInt32, _ handler: @escaping Handler, in inotify: Int32) -> Int {
        next += 1
        watches[next] = Watch(path: path, mask: mask, handler: handler, folder: nil)
        _ = place(next, in: inotify)
        return next
    }

    mutating func remove(_ number: Int, from inotify: Int32) {
        guard let watch = watches.removeValue(forKey: number), let folder = watch.folder else { return }
        numbers[folder]?.remove(number)
        guard numbers[folder]?.isEmpty == true else { return }
        numbers[folder] = nil
        _ = inotify_rm_watch(inotify, folder)
    }

    /// - Returns: whether the folder can be watched.
    private mutating func place(_ number: Int, in inotify: Int32) -> Bool {
        guard let watch = watches[number] else { return false }
        let mask = watch.mask | UInt32(IN_MASK_ADD) | UInt32(IN_ONLYDIR) | UInt32(IN_DONT_FOLLOW)
        let folder = inotify_add_watch(inotify, watch.path, mask)
        guard folder >= 0 else { return false }
        watches[number]?.folder = folder
        numbers[folder, default: []].insert(number)
        return true
    }

    /// Retries the folders that could not be watched.
    ///
    /// - Returns: the handlers of the folders that can be watched now, in which anything may have changed.
    mutating func placeRest(in inotify: Int32) -> [(Handler, FolderChange)] {
        var reports: [(Handler, FolderChange)] = []
        for (number, watch) in watches where watch.folder == nil {
            if place(number, in: inotify) { reports.append((watch.handler, .anything)) }
        }
        return reports
    }

    /// Handles an event of the kernel.
    mutating func take(_ event: InotifyEvent, in inotify: Int32) -> [(Handler, FolderChange)] {
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { return watches.values.map { ($0.handler, .anything) } }
        guard let known = numbers[event.folder] else { return [] }
        let hasMoved = event.mask & UInt32(IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0
        if hasMoved {
            numbers[event.folder] = nil
            _ = inotify_rm_watch(inotify, event.folder)
            for number in known { watches[number]?.folder = nil }
            // Another folder may be at the path by now.
            for number in known { _ = place(number, in: inotify) }
        }
        let change = hasMoved || event.name.isEmpty ? .anything : event.change
        return known.compactMap { number in watches[number].map { ($0.handler, change) } }
    }
}

/// An event of the kernel: `struct inotify_event`, see inotify(7).
struct InotifyEvent {
    let folder: Int32
    let mask: UInt32
    /// Empty for an event of the folder itself.
    let name: String

    var change: FolderChange {
        mask & UInt32(IN_MODIFY | IN_CLOSE_WRITE) != 0 ? .written(name) : .renamed(name)
    }

    /// Splits bytes that were read from the kernel into events.
    static func events(in bytes: UnsafeRawBufferPointer) -> [InotifyEvent] {
        var events: [InotifyEvent] = []
        var rest = bytes[...]
        let head = 16
        while rest.count >= head {
            let start = UnsafeRawBufferPointer(rebasing: rest)
            let length = Int(start.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
            guard length <= start.count - head else { break }
            let name = start[head..<head + length].prefix { $0 != 0 }
            events.append(
                InotifyEvent(
                    folder: start.loadUnaligned(as: Int32.self), mask: start.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                    name: String(decoding: name, as: UTF8.self)))
            rest = rest.dropFirst(head + length)
        }
        return events
    }
}
