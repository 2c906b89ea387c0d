import NevodPluginCrypto
import Testing

/// The cryptography of Docs/kit.md.
struct CryptoExamples {
    @Test func `Digests`() throws {
        let digest = try HashFunction.sha256.digest(of: "abc")
        #expect(digest.hex.hasPrefix("ba7816bf") && digest.base64.hasPrefix("ungWv48B"))
        #expect(digest.count == 32 && HashFunction.sha256.size == 32 && digest.bytes.count == 32)
        let copy = Digest(digest.bytes)
        #expect(copy == digest && HashFunction(rawValue: "sha3-256") == .sha3of256)

        var stream = HashStream(.sha1)
        stream.append(ascii: "a")
        stream.append(text: "bc")
        #expect(try stream.finish() == HashFunction.sha1.digest(of: "abc"))
    }

    @Test func `HMAC and derived keys`() throws {
        let key = try HMACKey(Secret("key"), .sha512)
        let code = try key.code { message in
            message.append(ascii: "time=")
            message.append(time: 0, as: .iso8601)
        }
        let message = Array("time=1970-01-01T00:00:00Z".utf8)
        let isEqual = try key.isCode(code.bytes, of: message.span)
        #expect(isEqual && key.function == .sha512)
        #expect(try key.code(of: "time=1970-01-01T00:00:00Z") == code)
        let keyBytes = Array("key".utf8)
        let once = try HashFunction.sha512.hmac(key: keyBytes.span, of: message.span)
        let isSame = ConstantTime.areEqual(once.bytes, code.bytes)
        #expect(isSame)

        let derived = try HKDF.derive(16, from: Secret("secret"), salt: [1], info: Array("signing".utf8), .sha384)
        let extracted = try HKDF.extract(Secret("secret"), salt: [1], .sha384)
        #expect(try HKDF.expand(extracted, 16, info: Array("signing".utf8), .sha384) == derived)
        var wiped = code
        wiped.wipe()
        #expect(wiped != code)
    }

    @Test func `Signatures`() throws {
        let message = Array("message".utf8)
        for (curve, algorithm) in [
            (KeyCurve.ed25519, SignatureAlgorithm.edDSA), (.p256, .ecdsa(.sha256)), (.p384, .ecdsa(.sha384)),
            (.p521, .ecdsaDER(.sha512)),
        ] {
            let key = try PrivateKey(curve, Secret(copying: [0] + [UInt8](repeating: 7, count: curve.size - 1)))
            let signature = try key.signature(of: message.span, algorithm)
            let isValid = key.publicKey.isSignature(signature.span, of: message.span, algorithm)
            #expect(isValid)
            #expect(try PublicKey(jwk: key.publicKey.jwk).jwk == key.publicKey.jwk)
        }
        #expect(throws: SchemeError.self) { try PrivateKey(pem: Secret("no key"), setting: "private-key") }
        for algorithm in [SignatureAlgorithm.rsaPKCS1(.sha256), .rsaPSS(.sha512)] {
            let key = try PrivateKey(.ed25519, Secret(copying: [UInt8](repeating: 7, count: 32)))
            #expect(throws: SchemeError.self) { try key.signature(of: message.span, algorithm) }
        }
    }
}
