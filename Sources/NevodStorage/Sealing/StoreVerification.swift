internal import NevodSupport

/// The result of reading and checking a whole store.
public struct StoreVerification: Sendable {
    /// The number of values that could be opened.
    public package(set) var values = 0
    /// The problems found, for people, each naming the key or the store.
    public package(set) var problems: [String] = []

    package init() {}

    /// Records damage as a problem, so that it doesn't stop the check. Other errors are thrown.
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

    mutating func note(_ result: Result<Secret?, StorageError>) {
        switch result {
        case .success(nil): break
        case .success: values += 1
        case .failure(let error): problems.append(error.description)
        }
    }
}
