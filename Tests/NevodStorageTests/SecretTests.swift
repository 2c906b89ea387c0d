import NevodSupport
import NevodTestSupport
import Testing

struct SecretTests {
    private static let sizes = [0, 1, 31, 32, 33, 128, 129, 512, 2048, 8192, 8193, 20_000]

    private static func bytes(_ count: Int, _ seed: UInt8) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0) ^ seed } }

    @Test func `It keeps bytes of any length`() {
        for size in Self.sizes {
            let bytes = Self.bytes(size, 0x5A)
            let secret = Secret(copying: bytes)
            #expect(secret.count == size)
            #expect(secret.withUnsafeBytes { Array($0) } == bytes)
        }
    }

    @Test func `Many that live at the same time share no byte`() {
        let secrets = (0..<3000).map { Secret(copying: Self.bytes(Self.sizes[$0 % 9], UInt8($0 % 251))) }
        for (index, secret) in secrets.enumerated() {
            #expect(secret.withUnsafeBytes { Array($0) } == Self.bytes(Self.sizes[index % 9], UInt8(index % 251)))
        }
    }

    @Test func `A freed one leaves nothing to the next`() {
        for _ in 0..<200 { _ = Secret(copying: [UInt8](repeating: 0xEE, count: 100)) }
        var isWiped = true
        for _ in 0..<200 {
            _ = Secret(count: 100) { (memory) throws(Never) in isWiped = isWiped && !memory.contains(0xEE) }
        }
        #expect(isWiped)
    }

    // A sanitizer makes each step several hundred times slower, and finds a race in any step.
    #if NEVOD_ADDRESS_SANITIZER || NEVOD_THREAD_SANITIZER
        private static let steps = 200
    #else
        private static let steps = 20_000
    #endif

    /// Each thread keeps some secrets, replaces them in its own order, passes some to the others, and finds its bytes in each.
    @Test func `Eight threads make and free them at the same time`() async throws {
        final class Exchange: Sendable {
            let shared = Locked([Secret]())
        }
        let exchange = Exchange()
        let damaged = Collected<Int>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    try await onOwnThread {
                        var random = SeededRandom(seed: UInt64(thread))
                        var kept: [Secret?] = Array(repeating: nil, count: 100)
                        for round in 0..<Self.steps {
                            let index = Int.random(in: 0..<kept.count, using: &random)
                            if let secret = kept[index] {
                                let found = secret.withUnsafeBytes { Array($0) }
                                if found != Self.bytes(found.count, found.first ?? 0) { damaged.append(round) }
                                exchange.shared.withLock { shared in
                                    shared.append(secret)
                                    if shared.count > 50 { shared.removeFirst(25) }
                                }
                            }
                            let size = Self.sizes[Int.random(in: 0..<(round % 100 == 0 ? 12 : 9), using: &random)]
                            kept[index] = Secret(copying: Self.bytes(size, UInt8(round & 0xFF)))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(damaged.values.isEmpty)
    }
}
