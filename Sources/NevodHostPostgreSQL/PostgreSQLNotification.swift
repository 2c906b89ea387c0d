internal import NevodStorage
internal import NevodSupport

/// A message between the processes that share a store, sent as the payload of a notification.
enum PostgreSQLNotification: Sendable, Equatable {
    case changed(StorageKey, version: Int64)
    /// The renewal lock of this number is free.
    case released(UInt64)

    /// Below the server's limit of 8,000 bytes, since the length of a key is limited.
    var payload: String {
        switch self {
        case .changed(let key, let version): "changed \(version) \(Hexadecimal.text(key.rawValue.utf8))"
        case .released(let lock): "released \(lock)"
        }
    }

    /// - Returns: nil for the payload of a later version or of another program.
    init?(_ payload: String) {
        let words = payload.split(separator: " ", omittingEmptySubsequences: false)
        switch (words.first, words.count) {
        case ("changed", 3):
            let key = Array(words[2].utf8).withUnsafeBytes { Hexadecimal.secret($0) }
            guard let version = Int64(words[1]), let key else { return nil }
            let text = key.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            self = .changed(StorageKey(rawValue: text), version: version)
        case ("released", 2):
            guard let lock = UInt64(words[1]) else { return nil }
            self = .released(lock)
        default: return nil
        }
    }
}
