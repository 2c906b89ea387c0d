import NevodSupport

/// Tokens that are unsigned, or signed by HMAC with a key in the tests, which needs no other program.
enum MadeToken {
    static func text(header: String, claims: String, signature: [UInt8] = [0]) -> String {
        [Array(header.utf8), Array(claims.utf8), signature].map { encoded($0) }.joined(separator: ".")
    }

    static func encoded(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: Base64.digitCount(bytes.count)) { text in
            guard let start = text.baseAddress else { return 0 }
            Base64.encode(bytes.span, .url, to: start)
            return Base64.digitCount(bytes.count)
        }
    }
}
