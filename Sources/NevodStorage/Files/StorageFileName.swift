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

    private static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let done = EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil)
        precondition(done == 1, "OpenSSL has no SHA-256")
        return digest
    }
}
