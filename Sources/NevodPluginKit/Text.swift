public import NevodSupport

extension String {
    /// The bytes in clear, as UTF-8. The string's memory is not wiped: for a user's name, not for a password.
    public init(revealing secret: Secret) {
        self = secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// As HTTP compares names: the case of ASCII letters doesn't count.
    public func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { Self.lowercased($0) == Self.lowercased($1) }
    }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
