internal import NevodStorage

/// The list of accounts as it is stored. It is one value, so that the accounts and the current one change together.
struct AccountIndex: StoredRecord, Equatable {
    static let content = "a list of accounts"
    static let remedy = "use another key, or remove the value and sign in again"

    static let limit = 1000
    static let longestIdentifier = 512
    private static let format = 1

    struct Entry: Codable, Equatable {
        let id: String
        let slot: String
    }

    private var format = Self.format
    private(set) var entries: [Entry] = []
    /// The slot of the current account.
    private(set) var current: String?
    /// The slots of accounts whose addition or removal wasn't completed. They must be cleared. At any instant, each slot with a
    /// session is here or in ``entries``, so that after a crash every session can still be removed.
    private(set) var loose: [String] = []

    var list: UserAccountList {
        let accounts = entries.map { UserAccount(id: $0.id, slot: StorageKey(rawValue: $0.slot)) }
        return UserAccountList(accounts: accounts, current: accounts.first { $0.slot.rawValue == current })
    }

    func lists(_ slot: StorageKey) -> Bool {
        entries.contains { $0.slot == slot.rawValue }
    }

    // MARK: Changes

    /// Called before a session is written to a new slot.
    mutating func prepare(_ slot: StorageKey) {
        loose.append(slot.rawValue)
    }

    /// Called when the session has been written.
    ///
    /// - Returns: false, without a change, if the slot isn't prepared any more, or if the account was added meanwhile.
    mutating func add(_ account: UserAccount, isCurrent: Bool) throws(AccountError) -> Bool {
        guard let place = loose.firstIndex(of: account.slot.rawValue), list[account.id] == nil else { return false }
        try checkRoom()
        loose.remove(at: place)
        entries.append(Entry(id: account.id, slot: account.slot.rawValue))
        if isCurrent { current = account.slot.rawValue }
        return true
    }

    func checkRoom() throws(AccountError) {
        guard entries.count < Self.limit else { throw AccountError(.tooMany) }
    }

    /// - Returns: false, without a change, if the account is not listed.
    mutating func makeCurrent(_ account: UserAccount) -> Bool {
        guard lists(account.slot) else { return false }
        current = account.slot.rawValue
        return true
    }

    /// Removes accounts from the list. Their slots must then be cleared and forgotten.
    mutating func remove(_ accounts: [UserAccount]) {
        let slots = Set(accounts.map(\.slot.rawValue))
        loose += entries.filter { slots.contains($0.slot) }.map(\.slot)
        entries.removeAll { slots.contains($0.slot) }
        if let slot = current, slots.contains(slot) { current = nil }
    }

    /// Called when slots have been cleared.
    mutating func forget(_ slots: [String]) {
        loose.removeAll { slots.contains($0) }
    }

    // MARK: Checks

    static func check(_ id: String) throws(AccountError) {
        guard (1...longestIdentifier).contains(id.utf8.count) else { throw AccountError(.identifier) }
    }

    func validate(of key: StorageKey) throws(StorageError) {
        guard format != Self.format else { return }
        throw StorageError(
            .other, "\(key)", problem: "holds a list of accounts in format \(format), but this version knows \(Self.format)",
            remedy: "update the app")
    }
}
