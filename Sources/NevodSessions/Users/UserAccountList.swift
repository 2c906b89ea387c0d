/// The accounts of a ``UserAccounts`` at one instant.
public struct UserAccountList: Sendable, Hashable {
    /// All accounts, in the order in which they were added. One whose session has ended stays in the list until it is removed.
    public let accounts: [UserAccount]
    /// The current account; nil if none was chosen, or if it was removed.
    public let current: UserAccount?

    /// The account with this identifier; nil if there is none. Identifiers are equal if their UTF-8 is equal.
    public subscript(_ id: String) -> UserAccount? {
        accounts.first { $0.id.utf8.elementsEqual(id.utf8) }
    }
}
