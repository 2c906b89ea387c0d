package import NevodSupport

extension Secret {
    package convenience init(wipingCopy bytes: some Collection<UInt8>) {
        var bytes = Array(bytes)
        self.init(copying: bytes)
        // Wipes the array if it is its last reference; otherwise copies it and wipes the copy.
        bytes.withUnsafeMutableBytes { $0.wipe() }
    }

    package func copied<Bytes: RangeReplaceableCollection<UInt8>>(as type: Bytes.Type) -> Bytes {
        withUnsafeBytes { Bytes($0) }
    }
}
