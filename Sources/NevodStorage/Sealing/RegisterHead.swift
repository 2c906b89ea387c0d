/// The counts of the whole store, in front of the first page of its register.
struct RegisterHead: Equatable {
    /// AES-GCM with random nonces is safe for 2³² values (NIST SP 800-38D §8.3). Every sealed page counts too.
    static let sealingLimit: UInt64 = 1 << 32

    /// The changes that were ever made: the version of the newest value.
    var changes: UInt64 = 0
    /// The values and pages that the data key has sealed.
    var sealings: UInt64 = 0
    /// The highest count that is known of this store, if it was found to be turned back to a lower one; else 0.
    var turnedBackFrom: UInt64 = 0

    static let size = 1 + 3 * 8
    private static let form: UInt8 = 1

    var encoded: [UInt8] {
        [Self.form] + [changes, sealings, turnedBackFrom].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
    }
}

extension RegisterHead {
    /// - Returns: nil for bytes of another form.
    init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size, bytes.first == Self.form else { return nil }
        let numbers = (0..<3).map { index in
            bytes.dropFirst(1 + index * 8).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        (changes, sealings, turnedBackFrom) = (numbers[0], numbers[1], numbers[2])
    }
}
