internal import NevodStorage

/// An entry, with the store that it was found in.
struct PostgreSQLEntry: Sendable {
    var sealed = SealedEntry()
    /// nil if the schema has no store.
    var store: StoreIdentifier?
}
