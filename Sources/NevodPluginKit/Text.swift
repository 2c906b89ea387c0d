public import NevodSupport

extension String {
    /// Copies a secret's bytes, read as UTF-8. The string's memory is not wiped: use it for a user's name, not for a password.
    public init(revealing secret: Secret) {
        self = secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Compares as HTTP compares names: the case of ASCII letters is ignored.
    package func equalsIgnoringCase(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }
}
