internal import NevodStorage

/// One version of a value, on its way to the server.
struct PostgreSQLWrite: Sendable {
    let key: StorageKey
    let version: Int64
    /// Nil: it is removed. No two are the same: each is sealed with a nonce of its own.
    let sealed: [UInt8]?
    let keyNumber: Int64
    let channel: String

    /// What has become of a write whose connection was lost before the answer came.
    enum Outcome: Equatable {
        case written
        /// Not yet at least: sending the same again settles it, since one of the two finds the version taken.
        case pending
        /// Another has written this version.
        case overtaken
        /// Later versions are there, and what they have replaced can't be known.
        case unknown
    }

    /// - Parameter entry: what is stored now.
    func outcome(given entry: SealedEntry) -> Outcome {
        if entry.version < version { return .pending }
        if entry.version > version { return .unknown }
        return entry.sealed == sealed ? .written : .overtaken
    }
}
