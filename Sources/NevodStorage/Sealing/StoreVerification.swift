/// What is found when all of a store is read.
public struct StoreVerification: Sendable {
    /// How many values there are, and open.
    public package(set) var values = 0
    /// What is wrong, for people, each naming the key or the store. Empty: nothing.
    public package(set) var problems: [String] = []

    package init() {}

    /// Damage is what is looked for: it doesn't end the search.
    package mutating func noteDamage(
        _ body: (inout StoreVerification) throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(StorageError) {
            try body(&self)
        } catch {
            guard error.code == .damaged else { throw error }
            problems.append(error.description)
        }
    }

    package mutating func check(_ entry: SealedEntry, of key: StorageKey, in store: String, _ opened: OpenedKey) {
        do throws(StorageError) {
            if try opened.open(entry, key, in: store) != nil { values += 1 }
        } catch {
            problems.append(error.description)
        }
    }
}
