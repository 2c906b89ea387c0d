/// A change that a ``FolderWatcher`` reports.
enum FolderChange: Sendable, Hashable {
    /// A file's content has changed in place.
    case written(String)
    /// A name was added, removed, or given to another file.
    case renamed(String)
    /// Anything may have changed: the folder was replaced, or the system has dropped reports.
    case anything
}
