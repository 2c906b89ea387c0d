import Dispatch
import Glibc
import NevodSupport

@testable import NevodStorage

/// The stores that fuzzers damage: an intact store and its export. Each run gets a copy.
final class Stores: Sendable {
    static let shared = Stores()

    private static let keys: [StorageKey] = ["first", "second", "removed", "missing"]

    private let folder = Folder.path
    private let key = KeyFile(path: "\(Folder.path)/key")
    private let exportKey = KeyFile(path: "\(Folder.path)/export-key")
    private let target: SQLiteStorage
    private let store: [UInt8]
    private let export: [UInt8]

    private init() {
        let (folder, key, exportKey) = (folder, key, exportKey)
        let made = Self.wait { () -> SQLiteStorage? in
            guard let store = try? await SQLiteStorage(path: "\(folder)/store", keys: [key]),
                let target = try? await SQLiteStorage(path: "\(folder)/target", keys: [KeyFile(path: "\(folder)/target-key")])
            else { return nil }
            for key in Self.keys.dropLast() { try? await store.set(Secret("a value of \(key)"), for: key) }
            try? await store.set(nil, for: "removed")
            _ = try? await store.export(to: "\(folder)/export", key: exportKey)
            try? await store.becomeOneFile()
            return target
        }
        expect(made != nil, "stores can be made in \(folder)")
        guard let made else { exit(1) }
        target = made
        store = Self.read("\(folder)/store")
        export = Self.read("\(folder)/export")
        expect(!store.isEmpty && !export.isEmpty, "there are a store and an export")
    }

    func copyOfStore() -> String {
        Self.write(store, "\(folder)/store-copy")
        return "\(folder)/store-copy"
    }

    func copyOfExport() -> String {
        Self.write(export, "\(folder)/export-copy")
        return "\(folder)/export-copy"
    }

    /// Opens a store, and reads, checks and writes its values.
    func use(_ path: String) {
        let key = key
        Self.wait {
            guard let store = try? await SQLiteStorage(path: path, keys: [key], mustExist: true) else { return }
            for key in Self.keys {
                let found = try? await store.secret(for: key)
                expect(
                    found == nil || found == .some(Secret("a value of \(key)")),
                    "a value that opens is the one that was stored for \(key)")
                _ = try? await store.replace(found, with: Secret("a value of \(key)"), for: key)
            }
            _ = try? await store.keys()
            _ = try? await store.verify()
            try? await store.set(nil, for: "first")
            try? await store.set(Secret("a value of second"), for: "second")
        }
    }

    func `import`(_ path: String) {
        let (target, key) = (target, exportKey)
        Self.wait {
            guard (try? await target.importValues(from: path, key: key, replacing: true)) != nil else { return }
            for key in Self.keys {
                let found = try? await target.secret(for: key)
                expect(found == nil || found == .some(Secret("a value of \(key)")), "an imported value is one that was exported")
            }
        }
    }

    /// Waits for work that needs other threads than libFuzzer's.
    @discardableResult
    private static func wait<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
        let done = DispatchSemaphore(value: 0)
        let result = Locked<Result?>(nil)
        Task {
            let value = await body()
            result.withLock { $0 = value }
            done.signal()
        }
        done.wait()
        guard let value = result.withLock(\.self) else { exit(1) }
        return value
    }

    static func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal", "-changes", "-renewals"] { unlink(path + suffix) }
    }

    static func read(_ path: String) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return [] }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { return [] }
        var bytes = [UInt8](repeating: 0, count: Int(info.st_size))
        let count = Glibc.read(file, &bytes, bytes.count)
        return count == bytes.count ? bytes : []
    }

    static func write(_ bytes: [UInt8], _ path: String) {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        expect(Glibc.write(file, bytes, bytes.count) == bytes.count, "\(path) can be written")
    }
}
