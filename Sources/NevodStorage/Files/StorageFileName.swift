internal import COpenSSL
internal import NevodSupport

/// The name of the file that holds a key's value. No two keys share one, even on file systems that ignore case or normalize accents;
/// none begins with a dot, holds a slash, or exceeds the limit of a file system.
///
/// Lower-case letters, digits, `-`, `_` and inner dots stand for themselves; every other byte is `%xx`. A name that would be longer
/// than ``maximumLength`` is `%%` and the key's SHA-256 instead.
struct StorageFileName {
    let text: String

    static let maximumLength = 200

    init(_ key: StorageKey) {
        let bytes = Array(key.rawValue.utf8)
        // A lone % stands for the empty key: any other % is followed by a byte.
        var text = bytes.isEmpty ? "%" : ""
        for (index, byte) in bytes.enumerated() {
            guard text.utf8.count <= Self.maximumLength else { break }
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where index > 0 && index < bytes.count - 1:
                text += "."
            default:
                text += "%" + Hexadecimal.text([byte])
            }
        }
        self.text = text.utf8.count <= Self.maximumLength ? text : "%%" + Hexadecimal.text(Self.sha256(bytes))
    }

    /// Whether the name is a digest, which doesn't tell its key.
    var isDigest: Bool { text.hasPrefix("%%") }

    /// The key whose value a file holds; nil for a file of another kind, or with a digest for a name.
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
        // A name that no key has, such as one of another program's file, is not that of the key it decodes to.
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let key = StorageKey(rawValue: text)
        return StorageFileName(key).text == name ? key : nil
    }

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        precondition(done == 1, "OpenSSL has no SHA-256")
        return digest
    }
}
