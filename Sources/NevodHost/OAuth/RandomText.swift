internal import NevodSupport

/// Random text that can't be guessed, for a login's state and verifier.
enum RandomText {
    /// Returns 256 bits of the system's random number generator as 43 letters, digits, `-` and `_`.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<4).flatMap { _ in withUnsafeBytes(of: generator.next() as UInt64) { Array($0) } }
        return Base64.encoded(bytes, .url, padded: false)
    }
}
