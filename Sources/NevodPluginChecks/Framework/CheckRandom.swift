/// A generator whose numbers depend on the seed and the check alone (SplitMix64), so that `--only ID --seed N` repeats a case.
struct CheckRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64, check: String, scheme: String?) {
        // FNV-1a. Checks of one run must not share their numbers.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in "\(check) \(scheme ?? "")".utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        state = seed ^ hash
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            var number = next()
            for _ in 0..<min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: number))
                number >>= 8
            }
        }
        return bytes
    }
}
