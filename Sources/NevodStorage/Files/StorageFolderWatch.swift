internal import Glibc
internal import NevodSupport

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
        // After the watch has begun, so that no file is missed.
        files.list()
        return watch.map(StorageFolderWatch.init)
    }
}

/// The files that a folder was seen to have: if it is replaced, those that are missing then have changed too.
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
