internal import CPQ
internal import Glibc
internal import NevodHost
internal import NevodSupport

/// libpq, loaded when it is first used: a program that may talk to PostgreSQL, and doesn't, needs no library for it.
final class PQ: Sendable {
    let call: nevod_pq

    private init(_ call: nevod_pq) {
        self.call = call
    }

    private static let loaded = Locked<PQ?>(nil)

    /// Stays loaded: its threads' state and OpenSSL's can't be taken back.
    static func load() throws(StorageError) -> PQ {
        if let known = loaded.withLock(\.self) { return known }
        let new = try open("libpq.so.5")
        return loaded.withLock { loaded in
            let kept = loaded ?? new
            loaded = kept
            return kept
        }
    }

    static func open(_ name: String) throws(StorageError) -> PQ {
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            throw StorageError(
                .unavailable, name, problem: "the library that talks to PostgreSQL is not installed",
                remedy: "install it with: apt install libpq5")
        }
        var functions = nevod_pq()
        if let missing = nevod_pq_find(library, &functions) {
            throw StorageError(
                .unavailable, name, problem: "has no \(String(cString: missing))",
                remedy: "install PostgreSQL's, of version 10 or later")
        }
        return PQ(functions)
    }

    /// What a connection's last failure was, in one line.
    func message(of connection: OpaquePointer) -> String {
        guard let message = call.PQerrorMessage(connection) else { return "" }
        return String(cString: message).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
