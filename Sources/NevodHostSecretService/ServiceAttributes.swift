internal import CSecretService
internal import Glibc
internal import NevodStorage

/// The attributes that identify an item. Every program of the session can read them.
struct ServiceAttributes: Sendable {
    private let pairs: [(name: String, value: String)]

    /// - Parameter schema: The kind of item: the attribute `xdg:schema`; nil for items of any kind.
    /// - Throws: for a text with a NUL, which would truncate it.
    init(schema: String?, _ pairs: [(name: String, value: String)]) throws(StorageError) {
        for pair in pairs where pair.value.utf8.contains(0) {
            throw StorageError(.other, pair.value, problem: "holds a NUL, which no keyring allows in a name")
        }
        self.pairs = (schema.map { [("xdg:schema", $0)] } ?? []) + pairs
    }

    func withTable<Result>(
        _ library: SecretLibrary, _ body: (UnsafeMutableRawPointer?) -> Result
    ) -> Result {
        let texts = pairs.map { (strdup($0.name), strdup($0.value)) }
        let table = library.call.g_hash_table_new(library.call.g_str_hash, library.call.g_str_equal)
        defer {
            if let table { library.call.g_hash_table_unref(table) }
            for (name, value) in texts {
                free(name)
                free(value)
            }
        }
        for (name, value) in texts { _ = library.call.g_hash_table_insert(table, name, value) }
        return body(table)
    }
}
