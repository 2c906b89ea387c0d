internal import CPQ
internal import NevodStorage

/// libpq, loaded on first use: a program that can use PostgreSQL, but doesn't, runs without the library.
final class LibPQ: Sendable {
    /// The functions, looked up once.
    let call: nevod_pq

    init(_ name: String = "libpq.so.5") throws(StorageError) {
        call = try SystemLibrary(name, package: "libpq5", version: "12").load(nevod_pq(), nevod_pq_find)
    }

    /// The connection's last error, in one line.
    func message(of connection: OpaquePointer) -> String {
        guard let message = call.PQerrorMessage(connection) else { return "" }
        return String(cString: message).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
