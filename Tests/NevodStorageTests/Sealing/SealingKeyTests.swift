import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Compared with Python's cryptography and hashlib.
struct SealingKeyTests {
    @Test func `Sealed values are compatible with another library's, in both directions`() throws {
        let key = SealingKey.random()
        let place: [UInt8] = Array("place".utf8)
        for length in [0, 1, 15, 16, 17, 1000] {
            let value = (0..<length).map { UInt8(truncatingIfNeeded: $0 * 7) }
            let sealed = key.seal(Secret(copying: value), for: place)
            let nonce = (0..<12).map { UInt8($0) }
            let lines = try Command.python(
                """
                import sys
                from cryptography.hazmat.primitives.ciphers.aead import AESGCM
                key, sealed, value, nonce = (bytes.fromhex(a) for a in sys.argv[1:])
                gcm = AESGCM(key)
                assert sealed[0] == 1
                print('value', gcm.decrypt(sealed[1:13], sealed[13:], b'place').hex())
                print('sealed', (b'\\x01' + nonce + gcm.encrypt(nonce, value, b'place')).hex())
                """, [key.bytes.withUnsafeBytes { hex($0) }, hex(sealed), hex(value), hex(nonce)])
            #expect(lines[0] == "value \(hex(value))")
            #expect(lines[1] == "sealed \(hex(key.seal(Secret(copying: value), for: place, nonce: nonce)))")
        }
    }

    /// Test case 16 of the GCM specification published by NIST (McGrew and Viega, 2005): a 256-bit key with
    /// associated data.
    @Test func `Sealing gives the published test vector`() throws {
        let key = try #require(Hexadecimal.bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308".utf8))
        let value = try #require(
            Hexadecimal.bytes(
                ("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                    + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39").utf8))
        let place = try #require(Hexadecimal.bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2".utf8))
        let nonce = try #require(Hexadecimal.bytes("cafebabefacedbaddecaf888".utf8))
        let sealed = SealingKey(Secret(copying: key)).seal(Secret(copying: value), for: place, nonce: nonce)
        #expect(
            hex(sealed.dropFirst(13)) == "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662" + "76fc6ece0f4e1768cddf8853bb2d551b")
    }

    @Test func `A value that was changed, moved, or sealed with another key doesn't open`() {
        let key = SealingKey.random()
        let sealed = key.seal(Secret("token"), for: [1])
        #expect(key.open(sealed, for: [1]) == Secret("token"))
        #expect(key.open(sealed, for: [2]) == nil)
        #expect(key.open(sealed, for: []) == nil)
        #expect(SealingKey.random().open(sealed, for: [1]) == nil)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(key.open(changed, for: [1]) == nil, "byte \(index)")
        }
        for count in 0..<sealed.count { #expect(key.open(Array(sealed.prefix(count)), for: [1]) == nil) }
        #expect(key.seal(Secret("token"), for: [1]) != sealed)
    }

    @Test func `scrypt equals Python's`() throws {
        for (passphrase, cost) in [("", 16), ("correct horse", 1024), ("пароль", 1 << 14)] {
            let salt: [UInt8] = [1, 2, 3, 0, 255]
            let key = try Scrypt(cost: UInt64(cost)).key(of: Secret(passphrase), salt: salt)
            let other = try Command.python(
                """
                import hashlib, sys
                print(hashlib.scrypt(sys.argv[1].encode(), salt=bytes.fromhex(sys.argv[2]), n=int(sys.argv[3]), r=8, p=1,
                                     maxmem=1 << 28, dklen=32).hex())
                """, [passphrase, hex(salt), "\(cost)"])
            #expect(other == [key.withUnsafeBytes { hex($0) }])
        }
    }

    /// RFC 7914 §12, the second example.
    @Test func `scrypt gives the published test vector`() throws {
        let key = try Scrypt(cost: 1024, blockSize: 8, parallelism: 16).key(
            of: Secret("password"), salt: Array("NaCl".utf8), count: 64)
        #expect(
            key.withUnsafeBytes { hex($0) } == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
    }

    @Test func `Only hexadecimal digits are accepted`() {
        #expect(Hexadecimal.bytes("00fFA9".utf8) == [0, 255, 0xA9])
        #expect(Hexadecimal.bytes("".utf8) == [])
        for text in ["0", "0g", "²0", " 00", "0x"] { #expect(Hexadecimal.bytes(text.utf8) == nil, "\(text)") }
    }
}

extension Hexadecimal {
    fileprivate static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        Array(text).withUnsafeBytes { secret($0) }?.withUnsafeBytes { Array($0) }
    }
}
