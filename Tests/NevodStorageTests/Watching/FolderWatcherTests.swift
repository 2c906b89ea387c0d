import Foundation
import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct FolderWatcherTests {
    private let folder: TemporaryFolder
    private let path: String
    private let watcher = FolderWatcher()
    private let seen = Collected<FolderChange>()

    init() throws {
        folder = try TemporaryFolder()
        path = folder.makeFolder("watched")
    }

    private func watch(_ path: String? = nil, seesWrites: Bool = false) -> FolderWatch? {
        let seen = seen
        return watcher.watch(path ?? self.path, seesWrites: seesWrites) { seen.append($0) }
    }

    private func write(_ name: String, in path: String? = nil) throws {
        try Data([1]).write(to: URL(fileURLWithPath: "\(path ?? self.path)/\(name)"))
    }

    private func rename(_ old: String, _ new: String) {
        #expect(Glibc.rename(old, new) == 0)
    }

    @Test func `Changes of files are reported, and the thread ends with the last watch`() async throws {
        #expect(!watcher.isRunning)
        do {
            let watches = [watch(), watch()]
            #expect(watches.allSatisfy { $0 != nil } && watcher.isRunning)
            try write("file")
            // Reported to both.
            #expect(await eventually { seen.values.filter { $0 == .renamed("file") }.count >= 2 })
            #expect(await eventually { seen.values.filter { $0 == .written("file") }.count >= 2 })
            rename("\(path)/file", "\(path)/other")
            #expect(await eventually { seen.values.contains(.renamed("other")) })
            withExtendedLifetime(watches) {}
        }
        #expect(await eventually { !watcher.isRunning })
        // It begins again.
        let watch = watch()
        unlink("\(path)/other")
        #expect(await eventually { seen.values.last == .renamed("other") })
        withExtendedLifetime(watch) {}
    }

    @Test func `A write in place is reported to those who ask for it`() async throws {
        try write("file")
        let watch = watch(seesWrites: true)
        let file = open("\(path)/file", O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, "x", 1, 0) == 1)
        #expect(await eventually { seen.values.contains(.written("file")) })
        withExtendedLifetime(watch) {}
    }

    @Test func `A folder that is replaced is watched again, and anything may have changed`() async throws {
        let watch = watch()
        rename(path, "\(path)-old")
        #expect(await eventually { seen.values.contains(.anything) })
        let other = folder.makeFolder("backup")
        try write("restored", in: other)
        let count = seen.values.count
        rename(other, path)
        #expect(await eventually { seen.values.count > count })
        #expect(seen.values.last == .anything)
        try write("later")
        #expect(await eventually { seen.values.contains(.renamed("later")) })
        withExtendedLifetime(watch) {}
    }

    @Test func `A folder that is missing is watched once it comes`() async throws {
        let watch = watch("\(folder.path)/later")
        #expect(watch != nil && seen.values.isEmpty)
        #expect(folder.makeFolder("later") == "\(folder.path)/later")
        #expect(await eventually { seen.values.contains(.anything) })
        try write("file", in: "\(folder.path)/later")
        #expect(await eventually { seen.values.contains(.renamed("file")) })
    }

    @Test func `Where reports were dropped, anything may have changed`() async throws {
        let limit = try #require(
            Int(
                try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8).trimmingCharacters(
                    in: .newlines)))
        try write("first")
        try write("second")
        let (begun, rest) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let seen = seen
        let watch = watcher.watch(path) { change in
            if seen.values.isEmpty {
                begun.signal()
                _ = rest.wait(timeout: .now() + 600)
            }
            seen.append(change)
        }
        try write("third")
        try await onOwnThread { _ = begun.wait(timeout: .now() + 600) }
        // Alternating, because consecutive equal events are merged. Doesn't change the disk, which other tests may be syncing.
        for number in 0..<min(limit + 1000, 100_000) {
            close(open("\(path)/\(number.isMultiple(of: 2) ? "first" : "second")", O_WRONLY))
        }
        rest.signal()
        #expect(await eventually { seen.values.contains(.anything) })
        withExtendedLifetime(watch) {}
    }

    @Test func `Events are split as the kernel writes them`() {
        func event(_ folder: Int32, _ mask: UInt32, _ name: String, padding: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            let length = name.utf8.count + padding
            for number in [UInt32(bitPattern: folder), mask, 0, UInt32(length)] {
                bytes += withUnsafeBytes(of: number) { Array($0) }
            }
            return bytes + Array(name.utf8) + [UInt8](repeating: 0, count: padding)
        }
        let bytes =
            event(1, UInt32(IN_MOVED_TO), "a", padding: 15) + event(-1, UInt32(IN_Q_OVERFLOW), "", padding: 0)
            + event(2, UInt32(IN_MODIFY), "bc", padding: 2)
        let events = bytes.withUnsafeBytes { InotifyEvent.events(in: $0) }
        #expect(events.map(\.folder) == [1, -1, 2] && events.map(\.name) == ["a", "", "bc"])
        #expect(events[0].change == .renamed("a") && events[2].change == .written("bc"))
        // A part of an event isn't an event.
        for count in 0..<bytes.count {
            let events = bytes[..<count].withUnsafeBytes { InotifyEvent.events(in: $0) }
            #expect(events.count == (count < 32 ? 0 : count < 48 ? 1 : 2))
        }
    }
}
