internal import NevodStorage

/// One version of a value, to be sent to the server.
struct PostgreSQLWrite: Sendable {
    let key: StorageKey
    let version: Int64
    /// Nil removes the value. No two are equal, since each is sealed with its own nonce.
    let sealed: [UInt8]?
    let store: StoreIdentifier
    let keyNumber: Int64
    /// The number of the renewal lock under which the value was obtained; nil if it was under none, as for a login.
    var fence: Int64?
    let channel: String

    /// The outcome of a write whose connection was lost before the response.
    enum Outcome: Equatable {
        case written
        /// Not written so far. Sending the same again is safe: one of the two fails, since its version exists.
        case pending
        /// Another process has written this version.
        case overtaken
        /// Later versions exist, and what they replaced can't be known.
        case unknown
    }

    /// - Parameter entry: The entry that is stored now.
    func outcome(given entry: SealedEntry) -> Outcome {
        if entry.version < version { return .pending }
        if entry.version > version { return .unknown }
        return entry.sealed == sealed ? .written : .overtaken
    }
}
