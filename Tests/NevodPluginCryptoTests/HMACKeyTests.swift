import NevodPluginCrypto
import Testing

struct HMACKeyTests {
    private func code(_ key: [UInt8], _ message: [UInt8]) throws -> String {
        try code(HMACKey(Secret(copying: key), .sha256), message)
    }

    private func code(_ key: HMACKey, _ message: [UInt8]) throws -> String {
        try key.code { $0.append(message.span) }.hex
    }

    /// RFC 4231 §4.2–4.8, without §4.6, which truncates.
    @Test(
        arguments: [
            (
                [UInt8](repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xAA, count: 20), [UInt8](repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                Array(1...25), [UInt8](repeating: 0xCD, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                [UInt8](repeating: 0xAA, count: 131),
                Array(
                    "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
                        .utf8),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
        ] as [([UInt8], [UInt8], String)])
    func `HMACs equal the test vectors of RFC 4231`(key: [UInt8], message: [UInt8], expected: String) throws {
        #expect(try code(key, message) == expected)
    }

    @Test func `Signing an empty message repeatedly gives the same HMAC`() throws {
        let key = try HMACKey(Secret("Jefe"), .sha256)
        let first = try code(key, [])
        _ = try code(key, [1, 2, 3])
        #expect(try code(key, []) == first)
    }

    @Test func `One key serves many tasks`() async throws {
        let key = try HMACKey(Secret("Jefe"), .sha256)
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let message = Array("message \(task)".utf8)
                    let expected = try code(Array("Jefe".utf8), message)
                    return try (0..<1000).count { _ in try code(key, message) != expected }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
