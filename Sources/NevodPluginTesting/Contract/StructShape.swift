/// The size of a struct as a plugin finds it: that of an older or a later host, for example.
package struct StructShape: Sendable {
    /// The value of `struct_size`, and the number of bytes that are there.
    package let size: Int
    /// The value of each byte beyond the struct that this host knows.
    package let filler: UInt8

    package init(size: Int, filler: UInt8 = 0xA5) {
        self.size = size
        self.filler = filler
    }

    /// A later host's: longer than this one's.
    package static func grown(_ kind: ContractStruct, by count: Int = 64, filler: UInt8 = 0xA5) -> StructShape {
        StructShape(size: kind.minimum + count, filler: filler)
    }

    /// Shorter than the contract allows.
    package static func shortened(_ kind: ContractStruct, by count: Int = 8) -> StructShape {
        StructShape(size: max(4, kind.minimum - count))
    }
}
