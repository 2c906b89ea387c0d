internal import Foundation
internal import NevodStorage
internal import NevodSupport

/// The list of accounts as it is stored: one value, so that accounts and the current one change together.
struct AccountIndex: Codable, Equatable {
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
    /// Slots that hold nothing of value: of an account that was not added completely, or not removed completely. Each slot with a
    /// session is either here or in ``entries``, at any instant, so that a crash leaves no session that is never removed.
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

    /// Takes accounts from the list. Their slots must then be cleared, and forgotten.
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

    // MARK: Coding

    static func check(_ id: String) throws(AccountError) {
        guard (1...longestIdentifier).contains(id.utf8.count) else { throw AccountError(.identifier) }
    }

    static func decode(_ secret: Secret, of key: StorageKey) throws -> AccountIndex {
        guard let index = try? secret.withUnsafeBytes({ try JSONDecoder().decode(AccountIndex.self, from: Data($0)) }) else {
            throw StorageError(
                .damaged, "\(key)", problem: "holds no list of accounts: it was changed, or stored by another program",
                remedy: "use another key, or remove the value and sign in again")
        }
        guard index.format == format else {
            throw StorageError(
                .other, "\(key)", problem: "holds a list of accounts in format \(index.format), and this version knows \(format)",
                remedy: "update the app")
        }
        return index
    }

    func encoded() throws -> Secret {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return Secret(wipingCopy: try encoder.encode(self) as Data)
    }
}
