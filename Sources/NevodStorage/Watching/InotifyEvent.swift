internal import Glibc

/// An event of the kernel: `struct inotify_event`, see inotify(7).
struct InotifyEvent {
    let folder: Int32
    let mask: UInt32
    /// Empty for an event of the folder itself.
    let name: String

    var change: FolderChange {
        mask & UInt32(IN_MODIFY | IN_CLOSE_WRITE) != 0 ? .written(name) : .renamed(name)
    }

    /// Splits what was read from the kernel.
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
