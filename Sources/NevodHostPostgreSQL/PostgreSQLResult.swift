internal import CPQ

/// The rows of a statement's result, in binary. Used by one thread.
final class PostgreSQLResult {
    private let pq: LibPQ
    let handle: OpaquePointer

    init(_ pq: LibPQ, _ handle: OpaquePointer) {
        self.pq = pq
        self.handle = handle
    }

    deinit {
        pq.call.PQclear(handle)
    }

    var count: Int32 { pq.call.PQntuples(handle) }

    func isNull(_ row: Int32, _ column: Int32) -> Bool { pq.call.PQgetisnull(handle, row, column) != 0 }

    func bytes(_ row: Int32, _ column: Int32) -> [UInt8] {
        Array(
            UnsafeRawBufferPointer(
                start: pq.call.PQgetvalue(handle, row, column), count: Int(pq.call.PQgetlength(handle, row, column))))
    }

    func text(_ row: Int32, _ column: Int32) -> String { String(decoding: bytes(row, column), as: UTF8.self) }

    /// An integer of any size; 1 for true.
    func integer(_ row: Int32, _ column: Int32) -> Int64 {
        bytes(row, column).reduce(0) { $0 << 8 | Int64($1) }
    }

    /// A field of the server's error report.
    func field(_ name: Character) -> String? {
        guard let code = name.asciiValue, let text = pq.call.PQresultErrorField(handle, Int32(code)) else { return nil }
        return String(cString: text)
    }

    var status: ExecStatusType { pq.call.PQresultStatus(handle) }
}
