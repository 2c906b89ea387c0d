internal import NevodStorage
internal import NevodSupport

/// What those who use a store tell each other, as the payload of a notification.
enum PostgreSQLNews: Sendable, Equatable {
    case changed(StorageKey, version: Int64)
    /// A renewal lock is free; its number.
    case released(UInt64)

    /// Shorter than the 8,000 bytes that a server takes, since keys are bounded.
    var payload: String {
        switch self {
        case .changed(let key, let version): "changed \(version) \(Hexadecimal.text(key.rawValue.utf8))"
        case .released(let lock): "released \(lock)"
        }
    }

    /// Nil: of a later program, or somebody else's.
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
