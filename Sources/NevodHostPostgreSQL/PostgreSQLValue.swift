internal import CPQ
internal import NevodSupport

/// A parameter of a statement. Values are sent separately from the statement, and are never part of its text.
enum PostgreSQLValue: Sendable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    /// An array of `bytea`.
    case list([[UInt8]])
    /// An array of `int8`.
    case integers([Int64])
    case null

    /// The server's binary form; nil for null.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let number): number.bigEndianBytes
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .list(let list): Self.array(of: Self.bytea, list)
        case .integers(let numbers): Self.array(of: Self.int8, numbers.map { $0.bigEndianBytes })
        case .null: nil
        }
    }

    // The types' object identifiers (pg_type.dat).
    private static let bytea: Int32 = 17
    private static let int8: Int32 = 20

    /// An array's binary form: the number of dimensions, whether there are nulls, the type, the length and the first index, and
    /// then each element, preceded by its length.
    private static func array(of type: Int32, _ list: [[UInt8]]) -> [UInt8] {
        var bytes = [Int32(list.isEmpty ? 0 : 1), 0, type].flatMap { $0.bigEndianBytes }
        if !list.isEmpty { bytes += [Int32(list.count), 1].flatMap { $0.bigEndianBytes } }
        for element in list { bytes += Int32(element.count).bigEndianBytes + element }
        return bytes
    }
}

/// The parameters of a statement, laid out for libpq.
struct PostgreSQLParameters {
    private let bytes: [UInt8]
    private let places: [Int?]
    private let lengths: [Int32]

    init(_ values: [PostgreSQLValue]) {
        let encoded = values.map(\.encoded)
        var bytes: [UInt8] = []
        places = encoded.map { value in
            guard let value else { return nil }
            defer { bytes += value }
            return bytes.count
        }
        lengths = encoded.map { Int32($0?.count ?? 0) }
        // Even an empty value needs an address: libpq takes a null pointer for NULL.
        self.bytes = bytes + [0]
    }

    func withPointers<Result>(
        _ body: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
    ) -> Result {
        bytes.withUnsafeBytes { memory in
            let start = memory.bindMemory(to: CChar.self).baseAddress
            let values = places.map { place in place.flatMap { place in start.map { $0 + place } } }
            return body(values, lengths, lengths.map { _ in 1 })
        }
    }
}

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
        Int64(bigEndianBytes: bytes(row, column))
    }

    /// A field of the server's error report.
    func field(_ name: Character) -> String? {
        guard let code = name.asciiValue, let text = pq.call.PQresultErrorField(handle, Int32(code)) else { return nil }
        return String(cString: text)
    }

    var status: ExecStatusType { pq.call.PQresultStatus(handle) }
}
