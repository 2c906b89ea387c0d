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
