import NevodPluginCrypto
import Testing

struct KeyTests {
    private func bytes(_ hex: String) throws -> [UInt8] { try #require(Hexadecimal.bytes(hex)) }

    private func algorithm(_ kind: String, _ hash: String) throws -> SignatureAlgorithm {
        if kind == "eddsa" { return .edDSA }
        let function = try #require(HashFunction(rawValue: hash))
        return switch kind {
        case "pkcs1": .rsaPKCS1(function)
        case "pss": .rsaPSS(function)
        case "ecdsa": .ecdsa(function)
        default: .ecdsaDER(function)
        }
    }

    @Test func `Signatures are exchanged with cryptography and openssl in both directions`() throws {
        var claims: [CryptoJudge.Claim] = []
        var expected: [Bool] = []
        let cases = try CryptoJudge.keys(seed: 0)
        #expect(cases.count == 14)
        for item in cases {
            let message = try bytes(item.message)
            let publicKey = try PublicKey(pem: item.public, setting: "key")
            let jwk = try JSONValue(parsing: item.jwk)
            let keys = try item.private.map { try PrivateKey(pem: Secret($0), setting: "key") } + [PrivateKey(jwk: jwk)]
            let publicKeys = try keys.map(\.publicKey) + [publicKey, PublicKey(jwk: jwk), PublicKey(jwk: publicKey.jwk)]
            for signed in item.signatures {
                let algorithm = try algorithm(signed.kind, signed.hash)
                let signature = try bytes(signed.signature)
                for key in publicKeys {
                    #expect(key.isSignature(signature, ofBytes: message, algorithm), "\(signed.kind) \(signed.hash)")
                    for index in [0, signature.count / 2, signature.count - 1] {
                        var other = signature
                        other[index] ^= 1
                        #expect(!key.isSignature(other, ofBytes: message, algorithm))
                    }
                    #expect(!key.isSignature(signature.dropLast(), ofBytes: message, algorithm))
                    #expect(!key.isSignature(signature, ofBytes: message + [0], algorithm))
                }
                for key in keys {
                    let own = try key.signature(ofBytes: message, algorithm)
                    for isDamaged in [false, true] {
                        let signed = isDamaged ? message + [0] : message
                        claims.append(
                            .init(
                                public: item.public, message: Hexadecimal.text(signed), signature: Hexadecimal.text(own),
                                kind: kind(algorithm), hash: hash(algorithm)))
                        expected.append(!isDamaged)
                    }
                }
            }
            let plain: SignatureAlgorithm =
                switch item.signatures[0].kind {
                case "pkcs1": .rsaPKCS1(.sha256)
                case "eddsa": .edDSA
                default: .ecdsaDER(.sha256)
                }
            #expect(publicKey.isSignature(try bytes(item.openssl), ofBytes: message, plain))
        }
        #expect(try CryptoJudge.verdicts(claims) == expected)
    }

    private func kind(_ algorithm: SignatureAlgorithm) -> String {
        switch algorithm {
        case .rsaPKCS1: "pkcs1"
        case .rsaPSS: "pss"
        case .ecdsa: "ecdsa"
        case .ecdsaDER: "ecdsa-der"
        case .edDSA: "eddsa"
        }
    }

    private func hash(_ algorithm: SignatureAlgorithm) -> String {
        switch algorithm {
        case .rsaPKCS1(let hash), .rsaPSS(let hash), .ecdsa(let hash), .ecdsaDER(let hash): hash.rawValue
        case .edDSA: ""
        }
    }

    @Test func `Encrypted and public keys are refused with the way out`() throws {
        for item in try CryptoJudge.keys(seed: 1) {
            for pem in item.encrypted {
                #expect(
                    try refusal { try PrivateKey(pem: Secret(pem), setting: "key") }.contains("openssl pkey -in KEY -out PLAIN"))
            }
            #expect(
                try refusal { try PrivateKey(pem: Secret(item.public), setting: "key") }.contains("signing needs the private one")
            )
            #expect(
                try refusal { try PublicKey(pem: item.private[0], setting: "key") }.contains("verifying needs the public one"))
        }
    }

    private func refusal(_ make: () throws -> some Any) throws -> String {
        let error = #expect(throws: SchemeError.self) { _ = try make() }
        return "\(try #require(error))"
    }

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        "-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n",
        "-----BEGIN SOMETHING-----\nAAAA\n-----END SOMETHING-----\n",
    ])
    func `Text that is no key is refused by the setting's name`(pem: String) throws {
        #expect(try refusal { try PrivateKey(pem: Secret(pem), setting: "signing-key") }.contains("signing-key"))
        #expect(try refusal { try PublicKey(pem: pem, setting: "signing-key") }.contains("signing-key"))
    }

    /// RFC 8032 §7.1, tests 1 to 3.
    @Test(arguments: [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "72",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7", "af82",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        ),
    ])
    func `Signatures of Ed25519 equal the test vectors of RFC 8032`(
        seed: String, message: String, point: String, expected: String
    ) throws {
        let key = try PrivateKey(.ed25519, Secret(copying: bytes(seed)))
        let message = try bytes(message)
        #expect(try Hexadecimal.text(key.signature(ofBytes: message, .edDSA)) == expected)
        let publicKey = try PublicKey(.ed25519, x: bytes(point))
        #expect(publicKey.isSignature(try bytes(expected), ofBytes: message, .edDSA))
        #expect(publicKey.jwk == key.publicKey.jwk)
    }

    /// RFC 6979 §A.2.5, the key and two signatures of P-256.
    @Test(arguments: [
        (
            HashFunction.sha256, "sample",
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        ),
        (
            .sha512, "test",
            "461d93f31b6540894788fd206c07cfa0cc35f46fa3c91816fff1040ad1581a0439af9f15de0db8d97e72719c74820d304ce5226e32dedae67519e840d1194e55"
        ),
    ])
    func `Signatures of ECDSA from RFC 6979 are valid`(function: HashFunction, message: String, signature: String) throws {
        let secret = "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721"
        let key = try PrivateKey(.p256, Secret(copying: bytes(secret)))
        #expect(try key.publicKey.isSignature(bytes(signature), ofBytes: Array(message.utf8), .ecdsa(function)))
        #expect(
            key.publicKey.jwk["x"]?.string
                == Base64.encoded(
                    try bytes("60fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6"), .url, padded: false))
    }

    /// RFC 7638 §3.1.
    @Test func `A key's JSON is the input of its thumbprint`() throws {
        let n = """
            0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn6\
            4tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91\
            CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw
            """
        let key = try PublicKey(jwk: ["kty": "RSA", "n": .string(n), "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"])
        let digest = try key.jwk.encoded.withUnsafeBytes { try HashFunction.sha256.digest(of: Span(_unsafeBytes: $0)) }
        var thumbprint: [UInt8] = []
        thumbprint.append(base64URL: digest.bytes)
        #expect(String(decoding: thumbprint, as: UTF8.self) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs")
    }

    @Test func `Algorithms of other keys, and numbers that are no key, are refused`() throws {
        let key = try PrivateKey(.ed25519, Secret(copying: [UInt8](repeating: 7, count: 32)))
        let message: [UInt8] = [1, 2, 3]
        for algorithm in [SignatureAlgorithm.rsaPKCS1(.sha256), .rsaPSS(.sha256), .ecdsa(.sha256), .ecdsaDER(.sha256)] {
            #expect(throws: SchemeError.self) { try key.signature(ofBytes: message, algorithm) }
            #expect(!key.publicKey.isSignature(message, ofBytes: message, algorithm))
        }
        for curve in KeyCurve.allCases {
            #expect(throws: SchemeError.self) {
                try PrivateKey(curve, Secret(copying: [UInt8](repeating: 1, count: curve.size - 1)))
            }
            #expect(throws: SchemeError.self) { try PublicKey(curve, x: [1], y: [1]) }
            guard curve != .ed25519 else { continue }
            for byte in [UInt8(0), 0xFF] {
                let number = Secret(copying: [UInt8](repeating: byte, count: curve.size))
                #expect(throws: SchemeError.self) { try PrivateKey(curve, number) }
            }
        }
        #expect(throws: SchemeError.self) { try PublicKey(rsaModulus: [1, 2, 3], exponent: [1, 0, 1]) }
        for jwk: JSONValue in [
            [:], ["kty": "oct", "k": "AAAA"], ["kty": "EC", "crv": "P-256"], ["kty": "OKP", "crv": "P-256", "x": "AAAA"],
            ["kty": "EC", "crv": "Ed25519", "x": "AAAA"], ["kty": "RSA", "n": "+", "e": "AQAB"], [1, 2],
        ] {
            #expect(throws: SchemeError.self) { try PublicKey(jwk: jwk) }
            #expect(throws: SchemeError.self) { try PrivateKey(jwk: jwk) }
        }
    }

    @Test func `One key signs and verifies on many threads`() async throws {
        let key = try PrivateKey(.p256, Secret(copying: [UInt8](repeating: 7, count: 32)))
        let valid = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let message = Array("message \(task)".utf8)
                    return try (0..<50).count { _ in
                        let signature = try key.signature(ofBytes: message, .ecdsa(.sha256))
                        return key.publicKey.isSignature(signature, ofBytes: message, .ecdsa(.sha256))
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(valid == 400)
    }
}
