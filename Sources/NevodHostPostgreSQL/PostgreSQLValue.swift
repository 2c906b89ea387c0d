/// A parameter of a statement. Values go beside the statement, never into its text.
enum PostgreSQLValue: Sendable {
    case integer(Int64)
    case text(String)
    case bytes([UInt8])
    /// An array of `bytea`.
    case list([[UInt8]])
    /// An array of `int8`.
    case integers([Int64])
    case null

    /// In the server's binary form; nil for null.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let number): Self.bigEndian(number)
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .list(let list): Self.array(of: Self.bytea, list)
        case .integers(let numbers): Self.array(of: Self.int8, numbers.map(Self.bigEndian))
        case .null: nil
        }
    }

    // Numbers of types (pg_type.dat).
    private static let bytea: Int32 = 17
    private static let int8: Int32 = 20

    /// Dimensions, whether there are nulls, the type, the length and the first index; then each with its length.
    private static func array(of type: Int32, _ list: [[UInt8]]) -> [UInt8] {
        var bytes = [Int32(list.isEmpty ? 0 : 1), 0, type].flatMap(bigEndian)
        if !list.isEmpty { bytes += [Int32(list.count), 1].flatMap(bigEndian) }
        for element in list { bytes += bigEndian(Int32(element.count)) + element }
        return bytes
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// The values of a statement in memory, as libpq takes them.
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
        // An empty value has an address too, or it would be null.
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
