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
        // An empty value needs an address too: libpq takes a null pointer for NULL.
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
