/// A query with its items sorted.
struct CanonicalQuery {
    private(set) var bytes: [UInt8] = []

    init(_ query: Span<UInt8>, _ emptyValues: EmptyQueryValues) {
        guard !query.isEmpty else { return }
        bytes.reserveCapacity(query.count + 1)
        query.withUnsafeBufferPointer { query in
            let items = query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map(Item.init)
            // Not by what has been written: the first item may be empty.
            var isFirst = true
            for item in items.sorted(by: Item.precedes) where emptyValues != .omitted || !item.value.isEmpty {
                if !isFirst { bytes.append(UInt8(ascii: "&")) }
                isFirst = false
                bytes.append(contentsOf: item.name)
                if item.hasSign(emptyValues) { bytes.append(UInt8(ascii: "=")) }
                bytes.append(contentsOf: item.value)
            }
        }
    }

    private struct Item {
        let name, value: Slice<UnsafeBufferPointer<UInt8>>
        private let isSigned: Bool

        init(_ item: Slice<UnsafeBufferPointer<UInt8>>) {
            name = item.prefix { $0 != UInt8(ascii: "=") }
            isSigned = name.endIndex < item.endIndex
            value = item[name.endIndex...].dropFirst()
        }

        func hasSign(_ emptyValues: EmptyQueryValues) -> Bool {
            guard value.isEmpty else { return true }
            return switch emptyValues {
            case .asSent: isSigned
            case .withSign: true
            case .withoutSign, .omitted: false
            }
        }

        static func precedes(_ left: Item, _ right: Item) -> Bool {
            guard left.name.elementsEqual(right.name) else { return left.name.lexicographicallyPrecedes(right.name) }
            guard left.value.elementsEqual(right.value) else { return left.value.lexicographicallyPrecedes(right.value) }
            return !left.isSigned && right.isSigned
        }
    }
}
