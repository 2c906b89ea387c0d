internal import Glibc
internal import NevodSupport

/// Stores each value in a file of its own, in a folder that only this user can access. Several processes may share the folder.
///
/// A value is written to a new file, which replaces the old one once it is on the device. So a crash of the process or of the
/// machine leaves the old value or the new one. Values are not encrypted; the modes of the folder (0700) and of the files (0600)
/// protect them. The store refuses a folder or file that others can read or write, that belongs to another user, or that is a
/// symbolic link.
///
/// While changes are observed, a watch on the folder reports the changes of other processes. The watch still works after the
/// folder is replaced, for example from a backup. If the system has no watch left (`fs.inotify.max_user_instances`), only this
/// object's changes are reported.
///
/// Blocking calls run on a thread of the store's own. A write that has begun is completed even if its task is cancelled.
public final class FileStorage: CompareAndSwapStorage, RenewalLockingStorage, ObservableStorage {
    /// The longest value, in bytes.
    public static let maximumSize = 1 << 20

    private let path: String
    private let thread = StorageThread()
    private let names = StorageFileNames()
    private let observers: StorageObservers

    /// - Parameter directory: The folder; it and its parents are created if they are missing. A relative path is resolved now,
    ///   against the current working directory.
    public init(directory: String) throws(StorageError) {
        guard !directory.isEmpty, !directory.utf8.contains(0) else {
            throw StorageError(.other, directory, problem: "is not a path")
        }
        var path = directory
        // A trailing slash would follow a symbolic link.
        while path.count > 1, path.last == "/" { path.removeLast() }
        if !path.hasPrefix("/") { path = try "\(Self.workingDirectory())/\(path)" }
        try PrivateDirectory.make(path)
        _ = try PrivateDirectory(path)
        self.path = path
        observers = StorageObservers { [names, path] notify in StorageFolderWatch.begin(path, names, notify) }
    }

    private static func workingDirectory() throws(StorageError) -> String {
        guard let path = getcwd(nil, 0) else { throw StorageError(".", "can't be found", errno: errno) }
        defer { free(path) }
        return String(cString: path)
    }

    public func data(for key: StorageKey) async throws(StorageError) -> [UInt8]? {
        let (path, name) = (path, names.name(of: key))
        return try await thread.run { () throws(StorageError) in try PrivateDirectory(path).read(name, upTo: Self.maximumSize) }
    }

    /// - Throws: `.tooLarge` if the value is longer than ``maximumSize``; `.full` if the device is full. The old value stays.
    public func set(_ value: [UInt8]?, for key: StorageKey) async throws(StorageError) {
        try await write(key) { (folder, name) throws(StorageError) in try Self.put(value, folder, name) }
        observers.notify(key)
    }

    public func remove(for key: StorageKey) async throws(StorageError) {
        try await set(nil, for: key)
    }

    public func replace(
        _ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey
    ) async throws(StorageError) -> Bool {
        let isReplaced = try await write(key) { (folder, name) throws(StorageError) in
            var current = try folder.read(name, upTo: Self.maximumSize)
            defer { current?.withUnsafeMutableBytes { $0.wipe() } }
            guard current == expected else { return false }
            try Self.put(value, folder, name)
            return true
        }
        if isReplaced { observers.notify(key) }
        return isReplaced
    }

    /// Locks the file `.renewals` in the folder.
    public func withRenewalLock(for key: StorageKey, _ body: @Sendable () async -> Void) async throws {
        try await RenewalLocks(path: "\(path)/.renewals").withLock(for: key, body)
    }

    /// The keys whose values change from now on, whichever process changes them. A key may be reported even if its value was
    /// changed back meanwhile.
    public func changes() -> StorageChanges {
        observers.changes()
    }

    private func write<Result: Sendable>(
        _ key: StorageKey,
        _ body: @escaping @Sendable (borrowing PrivateDirectory, String) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        let (path, name) = (path, names.name(of: key))
        return try await thread.run { () throws(StorageError) in
            try PrivateDirectory(path).withLock { (folder) throws(StorageError) in try body(folder, name) }
        }
    }

    private static func put(
        _ value: [UInt8]?, _ folder: borrowing PrivateDirectory, _ name: String
    ) throws(StorageError) {
        guard let value else { return try folder.remove(name) }
        try StorageError.checkSize(value.count, upTo: maximumSize, of: name)
        try folder.replace(name, with: value)
    }
}

/// Tells which keys of a folder of values have changed.
final class StorageFolderWatch: StorageActivity {
    private let watch: FolderWatch

    private init(_ watch: FolderWatch) {
        self.watch = watch
    }

    /// - Returns: nil if the folder can't be watched.
    static func begin(
        _ path: String, _ names: StorageFileNames, _ notify: @escaping @Sendable (StorageKey) -> Void
    ) -> StorageFolderWatch? {
        let files = KnownFiles(path)
        let watch = FolderWatcher.shared.watch(path) { change in
            for name in files.changed(by: change) {
                if let key = names.key(of: name) { notify(key) }
            }
        }
        // Listed only after the watch has begun, so that no file is missed.
        files.list()
        return watch.map(StorageFolderWatch.init)
    }
}

/// The files that were last seen in a folder. If the folder is replaced, the files that are then missing count as changed.
private final class KnownFiles: Sendable {
    private let path: String
    private let names = Locked<Set<String>>([])

    init(_ path: String) {
        self.path = path
    }

    func changed(by change: FolderChange) -> Set<String> {
        switch change {
        case .written(let name), .renamed(let name):
            guard !name.hasPrefix(".") else { return [] }
            names.withLock { _ = $0.insert(name) }
            return [name]
        case .anything:
            return list()
        }
    }

    /// - Returns: the files before and now.
    @discardableResult
    func list() -> Set<String> {
        var found: Set<String> = []
        if let folder = opendir(path) {
            defer { closedir(folder) }
            while let entry = readdir(folder) {
                let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if !name.hasPrefix(".") { found.insert(name) }
            }
        }
        return names.withLock { names in
            defer { names = found }
            return names.union(found)
        }
    }
}
