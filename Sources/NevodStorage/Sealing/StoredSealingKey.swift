internal import NevodSupport

/// The wrapped key of a ``SealingStorage``, a value of its base: `nevod-sealing-1`, the store, the kind of the source, the salt and the
/// wrapped key, in hexadecimal, separated by spaces.
struct StoredSealingKey: SealedKeyKeeping {
    static let key: StorageKey = "nevod.sealing-key"
    private static let form = "nevod-sealing-1"

    let base: AnyKeyValueStorage

    func sealedKey() async throws -> (SealedKey, number: Int64)? {
        guard let secret = try await base.read(Self.key) else { return nil }
        let words = String(decoding: secret.copied(as: [UInt8].self), as: UTF8.self).split(separator: " ")
        let fields = words.dropFirst().compactMap { Self.bytes(String($0)) }
        guard words.count == 5, words[0] == Self.form, fields.count == 4, let store = StoreIdentifier(fields[0]) else {
            throw StorageError(
                .damaged, "\(Self.key)", problem: "holds no sealing key: it was changed, or the storage has another use",
                remedy: "restore it from a backup, or use an empty storage")
        }
        let kind = String(decoding: fields[1], as: UTF8.self)
        return (SealedKey(store: store, kind: kind, salt: fields[2], sealed: fields[3]), 1)
    }

    func addFirst(_ key: SealedKey) async throws {
        let fields = [key.store.bytes, Array(key.kind.utf8), key.salt, key.sealed].map { Hexadecimal.text($0) }
        let text = ([Self.form] + fields).joined(separator: " ")
        _ = try await base.replace(Self.key, nil, Secret(text))
    }

    private static func bytes(_ text: String) -> [UInt8]? {
        var text = text
        return text.withUTF8 { Hexadecimal.secret(UnsafeRawBufferPointer($0)) }?.copied(as: [UInt8].self)
    }
}
