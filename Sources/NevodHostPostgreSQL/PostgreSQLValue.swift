/// A parameter of a statement. Values are sent beside the statement, never in its text.
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
        case .integer(let number): Self.bigEndian(number)
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .list(let list): Self.array(of: Self.bytea, list)
        case .integers(let numbers): Self.array(of: Self.int8, numbers.map(Self.bigEndian))
        case .null: nil
        }
    }

    // Object identifiers of types (pg_type.dat).
    private static let bytea: Int32 = 17
    private static let int8: Int32 = 20

    /// The number of dimensions, whether there are nulls, the type, the length and the first index; then each element after its
    /// length.
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
