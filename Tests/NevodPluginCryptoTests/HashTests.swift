import NevodPluginCrypto
import Testing

struct HashTests {
    /// NIST's examples with intermediate values (FIPS 180-4, FIPS 202), RFC 1321 §A.5, and the empty message.
    @Test(arguments: [
        (HashFunction.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha384, "abc",
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        ),
        (
            .sha512, "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (.md5, "abc", "900150983cd24fb0d6963f7d28e17f72"),
        (.sha224, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (.sha512Truncated, "abc", "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"),
        (.sha3of256, "abc", "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            .sha3of384, "abc",
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25"
        ),
        (
            .sha3of512, "abc",
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"
        ),
        (.md5, "", "d41d8cd98f00b204e9800998ecf8427e"), (.sha224, "", "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
        (.sha512Truncated, "", "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"),
        (.sha3of256, "", "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a"),
        (.sha1, "", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
        (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ])
    func `Digests equal the published examples`(function: HashFunction, message: String, expected: String) throws {
        #expect(try function.digest(of: message).hex == expected)
        #expect(try function.digest(of: message).count == function.size)
    }

    @Test func `Digests, HMACs and derived keys equal those of hashlib, hmac and cryptography`() throws {
        let cases = try CryptoJudge.hashes(seed: 180)
        #expect(cases.count > 100)
        for item in cases {
            let function = try #require(HashFunction(rawValue: item.hash))
            let (message, key) = try (bytes(item.message), bytes(item.key))
            #expect(try function.digest(ofBytes: message).hex == item.digest)
            #expect(try function.hmac(key: key, ofBytes: message).hex == item.code)
            let prepared = try HMACKey(Secret(copying: key), function)
            #expect(try prepared.code(ofBytes: message).hex == item.code)
            #expect(try prepared.isCode(bytes(item.code), ofBytes: message))

            for size in [1, 7, 64, 600] {
                var stream = HashStream(function)
                let code = try prepared.code { input in
                    for start in stride(from: 0, to: message.count, by: size) {
                        let piece = message[start..<min(start + size, message.count)]
                        stream.append(piece.span)
                        input.append(piece.span)
                    }
                }
                #expect(try stream.finish().hex == item.digest)
                #expect(code.hex == item.code)
            }

            let derived = try HKDF.derive(
                item.count, from: Secret(copying: key), salt: bytes(item.salt), info: bytes(item.info), function)
            #expect(derived.withUnsafeBytes { Hexadecimal.text($0) } == item.derived)
        }
    }

    /// Their names in a plugin's setting.
    @Test func `Each function has the size that hashlib says`() throws {
        #expect(
            HashFunction.allCases.map { "\($0.rawValue) \($0.size)" } == [
                "md5 16", "sha1 20", "sha224 28", "sha256 32", "sha384 48", "sha512 64", "sha512-256 32", "sha3-256 32",
                "sha3-384 48",
                "sha3-512 64",
            ])
    }

    @Test func `A digest is made of bytes, of which 64 are the most`() throws {
        for count in [0, 1, 32, 63, 64, 65, 200] {
            let bytes = (0..<count).map { UInt8($0) }
            let digest = Digest(bytes.span)
            #expect(digest.count == min(count, 64))
            #expect(digest.hex == Hexadecimal.text(bytes.prefix(64)))
        }
        let bytes = Hexadecimal.bytes("900150983cd24fb0d6963f7d28e17f72") ?? []
        #expect(try Digest(bytes.span) == HashFunction.md5.digest(of: "abc"))
    }

    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(hex)) }

    /// RFC 5869 §A.1, A.2, A.3, A.4 and A.7.
    @Test(
        arguments: [
            (
                HashFunction.sha256, String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
                "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            ),
            (
                .sha256, Hexadecimal.text(0x00...0x4F), Hexadecimal.text(0x60...0xAF), Hexadecimal.text(0xB0...0xFF),
                "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
                "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
            ),
            (
                .sha256, String(repeating: "0b", count: 22), "", "",
                "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
                "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
            ),
            (
                .sha1, String(repeating: "0b", count: 11), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
                "9b6c18c432a7bf8f0e71c8eb88f4b30baa2ba243",
                "085a01ea1b10f36933068b56efa5ad81a4f14b822f5b091568a9cdd4f155fda2c22e422478d305f3f896"
            ),
            (
                .sha1, String(repeating: "0c", count: 22), "", "", "2adccada18779e7c2077ad2eb19d3f3e731385dd",
                "2c91117204d745f3500d636a62f64f0ab3bae548aa53d423b0d1f27ebba6f5e5673a081d70cce7acfc48"
            ),
        ] as [(HashFunction, String, String, String, String, String)])
    func `Derived keys equal the test vectors of RFC 5869`(
        function: HashFunction, secret: String, salt: String, info: String, extracted: String, expected: String
    ) throws {
        let secret = Secret(copying: try bytes(secret))
        let key = try HKDF.extract(secret, salt: bytes(salt), function)
        #expect(key.withUnsafeBytes { Hexadecimal.text($0) } == extracted)
        let derived = try HKDF.derive(expected.utf8.count / 2, from: secret, salt: bytes(salt), info: bytes(info), function)
        #expect(derived.withUnsafeBytes { Hexadecimal.text($0) } == expected)
    }

    @Test func `HKDF refuses what RFC 5869 doesn't define`() throws {
        #expect(throws: SchemeError.self) { try HKDF.derive(255 * 32 + 1, from: Secret("x")) }
        #expect(throws: SchemeError.self) { try HKDF.derive(-1, from: Secret("x")) }
        #expect(try HKDF.derive(255 * 32, from: Secret("x")).count == 255 * 32)
    }

    @Test func `A comparison finds each difference`() throws {
        let bytes: [UInt8] = Array(0..<32)
        #expect(ConstantTime.areEqual(bytes, bytes))
        for index in bytes.indices {
            var other = bytes
            other[index] ^= 1
            #expect(!ConstantTime.areEqual(bytes, other))
        }
        let none: [UInt8] = []
        #expect(!ConstantTime.areEqual(bytes, Array(bytes[1...])))
        #expect(ConstantTime.areEqual(none, none))
        #expect(try HashFunction.sha256.digest(of: "a") != HashFunction.sha256.digest(of: "b"))
        #expect(try HashFunction.sha256.digest(of: "a") == HashFunction.sha256.digest(of: "a"))
        var wiped = try HashFunction.sha256.digest(of: "a")
        wiped.wipe()
        #expect(wiped.hex == String(repeating: "0", count: 64))
        #expect(try HashFunction.sha1.digest(of: "abc").base64 == "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=")
    }

    /// Hashing with a format gives the hash of the format's output.
    @Test func `A hash and an HMAC take each format`() throws {
        var text: [UInt8] = []
        var stream = HashStream(.sha256)
        let query = Array("b=2&a=%20".utf8)
        text.append(canonicalQuery: query.span, as: .rfc3986)
        stream.append(canonicalQuery: query.span, as: .rfc3986)
        text.append(time: 1_700_000_000_123_456_789, as: .iso8601Basic)
        stream.append(time: 1_700_000_000_123_456_789, as: .iso8601Basic)
        text.append(decimal: -42)
        stream.append(decimal: -42)
        text.append(base64: query.span)
        stream.append(base64: query.span)
        #expect(String(decoding: text, as: UTF8.self) == "a=%20&b=220231114T221320Z-42Yj0yJmE9JTIw")
        #expect(try stream.finish() == HashFunction.sha256.digest(ofBytes: text))
    }
}
