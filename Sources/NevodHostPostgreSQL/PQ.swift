internal import CPQ
internal import NevodStorage

/// libpq, loaded when it is first used: a program that may talk to PostgreSQL, and doesn't, needs no library for it.
final class PQ: Sendable {
    let call: nevod_pq

    init(_ name: String = "libpq.so.5") throws(StorageError) {
        call = try SystemLibrary(name, package: "libpq5", version: "12").load(nevod_pq(), nevod_pq_find)
    }

    /// What a connection's last failure was, in one line.
    func message(of connection: OpaquePointer) -> String {
        guard let message = call.PQerrorMessage(connection) else { return "" }
        return String(cString: message).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
