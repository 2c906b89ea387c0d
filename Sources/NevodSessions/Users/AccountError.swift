/// Why a ``UserAccounts`` has not done what it was asked. Never holds an account's identifier, which may be personal data.
public struct AccountError: Error, Sendable, Hashable {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// No account has this identifier.
        case unknown
        /// No account is the current one.
        case noCurrent
        /// The account was removed, so that no session can be saved for it.
        case removed
        /// There are as many accounts as are allowed.
        case tooMany
        /// The identifier is empty or too long.
        case identifier
    }

    /// The kind of failure; the description tells it to a person.
    public let code: Code

    init(_ code: Code) {
        self.code = code
    }
}

extension AccountError: CustomStringConvertible {
    public var description: String {
        switch code {
        case .unknown: "no account has this identifier; sign it in first"
        case .noCurrent: "no account is the current one; sign one in, or switch to one"
        case .removed: "the account was removed; sign it in again, and use the storage and the client of the new account"
        case .tooMany: "there are \(AccountIndex.limit) accounts already; remove one first"
        case .identifier:
            "the identifier of an account must not be empty, nor longer than \(AccountIndex.longestIdentifier) bytes of UTF-8"
        }
    }
}
