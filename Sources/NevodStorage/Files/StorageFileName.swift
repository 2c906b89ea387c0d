internal import NevodSupport

/// The name of the file that holds a key's value. No two keys share a name, even on file systems that ignore case or normalize
/// accents. No name begins with a dot, holds a slash, or exceeds the limit of a file system.
///
/// Lower-case letters, digits, `-`, `_` and inner dots are kept; every other byte is written as `%xx`. A name that would be
/// longer than ``maximumLength`` is replaced with `%%` and the key's SHA-256.
struct StorageFileName {
    let text: String

    static let maximumLength = 200

    init(_ key: StorageKey) {
        let bytes = Array(key.rawValue.utf8)
        // A lone % means the empty key: any other % is followed by a byte.
        var text = bytes.isEmpty ? "%" : ""
        for (index, byte) in bytes.enumerated() {
            guard text.utf8.count <= Self.maximumLength else { break }
            switch byte {
            case _ where byte.isLowercase || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where index > 0 && index < bytes.count - 1:
                text += "."
            default:
                text += "%" + Hexadecimal.text([byte])
            }
        }
        let isLong = text.utf8.count > Self.maximumLength
        self.text = isLong ? "%%" + Hexadecimal.text(bytes.withUnsafeBytes { SHA256.digest(of: $0) }) : text
    }

    /// Whether the name is a digest, from which the key can't be told.
    var isDigest: Bool { text.hasPrefix("%%") }

    /// The key whose value a file holds; nil if the file isn't a value's, or if its name is a digest.
    static func key(of name: String) -> StorageKey? {
        var bytes: [UInt8] = []
        var rest = Array(name.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst(), let low = rest.popFirst(), let escaped = Hexadecimal.byte(high, low) else {
                return name == "%" ? StorageKey(rawValue: "") : nil
            }
            bytes.append(escaped)
        }
        // Reject names that this store never writes, such as another program's, even if they decode to a key.
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let key = StorageKey(rawValue: text)
        return StorageFileName(key).text == name ? key : nil
    }
}

/// The names of a folder's files. The key of a digest is known only if that key was used before.
final class StorageFileNames: Sendable {
    private let digests = Locked<[String: StorageKey]>([:])

    func name(of key: StorageKey) -> String {
        let name = StorageFileName(key)
        if name.isDigest { digests.withLock { $0[name.text] = key } }
        return name.text
    }

    func key(of name: String) -> StorageKey? {
        StorageFileName.key(of: name) ?? digests.withLock { $0[name] }
    }
}
