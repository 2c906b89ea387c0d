internal import NevodStorage

/// One of several accounts in a ``UserAccounts``.
///
/// An account that was removed and added again is another one: they are not equal, and don't share tokens.
public struct UserAccount: Sendable, Hashable, Identifiable {
    /// The account's identifier as the app has given it, such as the claim `sub` of its token.
    public let id: String
    /// Random, so that the keys in a storage don't reveal whose accounts are stored.
    let slot: StorageKey
}

extension UserAccount {
    /// By the slot, which no other account has: strings with different UTF-8 may be equal.
    public static func == (left: UserAccount, right: UserAccount) -> Bool {
        left.slot == right.slot
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(slot)
    }
}
