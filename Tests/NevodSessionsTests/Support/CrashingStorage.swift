import NevodHost
import NevodSupport

/// What a process leaves behind when it ends: values that outlive the storage object.
final class Disk: Sendable {
    private let values = Locked<[StorageKey: [UInt8]]>([:])

    var contents: [StorageKey: [UInt8]] { values.withLock { $0 } }
    func set(_ value: [UInt8]?, _ key: StorageKey) { values.withLock { $0[key] = value } }
    func replace(_ expected: [UInt8]?, _ value: [UInt8]?, _ key: StorageKey) -> Bool {
        values.withLock { values in
            guard values[key] == expected else { return false }
            values[key] = value
            return true
        }
    }
}

/// The storage of a process that ends at its nth write, before or after the write takes effect. Nothing works from then on.
final class CrashingStorage: CompareAndSwapStorage {
    struct Crash: Error {}

    private struct State {
        var writes = 0
        var hasCrashed = false
    }

    private let disk: Disk
    private let crash: Int?
    private let isAfter: Bool
    private let state = Locked(State())

    init(_ disk: Disk, crashAt crash: Int? = nil, isAfter: Bool = false) {
        self.disk = disk
        self.crash = crash
        self.isAfter = isAfter
    }

    var hasCrashed: Bool { state.withLock { $0.hasCrashed } }

    private func write<Result>(_ body: () -> Result) throws -> Result {
        let isLast = try state.withLock { state in
            if state.hasCrashed { throw Crash() }
            state.writes += 1
            state.hasCrashed = state.writes == crash
            return state.hasCrashed
        }
        guard isLast else { return body() }
        if isAfter { _ = body() }
        throw Crash()
    }

    func data(for key: StorageKey) throws -> [UInt8]? {
        if hasCrashed { throw Crash() }
        return disk.contents[key]
    }

    func set(_ value: [UInt8]?, for key: StorageKey) throws {
        try write { disk.set(value, key) }
    }

    func remove(for key: StorageKey) throws {
        try write { disk.set(nil, key) }
    }

    func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) throws -> Bool {
        try write { disk.replace(expected, value, key) }
    }
}
