import NevodJWT
import NevodSupport
import NevodTestSupport
import Testing

/// Keys in PEM and DER, as the `openssl` command writes them.
struct PEMTests {
    /// Runs a shell script, with `openssl` in it.
    private func shell(_ script: String) throws -> String { try Command.output(["sh", "-ec", script]) }

    private func publicKey(_ options: String) throws -> String {
        try shell("openssl genpkey \(options) 2>/dev/null | openssl pkey -pubout")
    }

    @Test(arguments: [
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:2048", [JWTAlgorithm.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-256", [.es256]),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", [.es384]),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-521", [.es512]), ("-algorithm ed25519", [.edDSA]),
        ("-algorithm ed448", [.edDSA]),
    ]) func `A public key is read`(_ options: String, _ algorithms: [JWTAlgorithm]) throws {
        let pem = try publicKey(options)
        #expect(try JSONWebKey(pem: pem).algorithms == algorithms)
        #expect(try JSONWebKey(pem: "text\n\(pem)", keyID: "k1").keyID == "k1")
        for algorithm in JWTAlgorithm.allCases {
            let isFor = (try? JSONWebKey(pem: pem, algorithm: algorithm))?.algorithms
            #expect(isFor == (algorithms.contains(algorithm) ? [algorithm] : nil))
        }
    }

    @Test(arguments: [
        "-algorithm RSA -pkeyopt rsa_keygen_bits:1024", "-algorithm EC -pkeyopt ec_paramgen_curve:secp256k1", "-algorithm x25519",
        "-algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048",
    ]) func `A public key of another kind is refused`(_ options: String) throws {
        let pem = try publicKey(options)
        #expect(code { try JSONWebKey(pem: pem) } == .key)
    }

    @Test func `The key of a certificate is read, unless it is not for signatures`() throws {
        let request =
            "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -keyout /dev/null -subj /CN=id.example.com -days 1 2>/dev/null"
        #expect(try JSONWebKey(pem: shell(request)).algorithms == [.es256])
        #expect(try JSONWebKey(pem: shell(request + " -addext keyUsage=digitalSignature")).algorithms == [.es256])
        let other = try shell(request + " -addext keyUsage=keyAgreement")
        #expect(code { try JSONWebKey(pem: other) } == .key)
    }

    @Test func `A private key is refused, and the message says what to give`() throws {
        let pem = try shell("openssl genpkey -algorithm ed25519")
        do {
            _ = try JSONWebKey(pem: pem)
            Issue.record("accepted")
        } catch { #expect("\(error)".contains("openssl pkey -pubout") && !"\(error)".contains("MC4CAQ")) }
    }

    @Test func `A text that is no public key is refused`() throws {
        let pem = try publicKey("-algorithm ed25519")
        for text in [
            "", "-----BEGIN PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
            "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            pem.replacingFirst("PUBLIC KEY", by: "PUBLIC KEYS"), String(pem.dropLast(30)), String(repeating: pem, count: 1000),
            // A byte after the key.
            "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURoA\n-----END PUBLIC KEY-----\n",
        ] { #expect(code { try JSONWebKey(pem: text) } == .key, "\(text.prefix(200))") }
    }

    /// With the exponent 1, each text would be its own signature.
    @Test func `An RSA key with an exponent that is even, 1 or very long is refused`() throws {
        let script = """
            import base64, sys
            def value(tag, data):
                size = len(data).to_bytes((len(data).bit_length() + 7) // 8, "big")
                return bytes([tag]) + (bytes([len(data)]) if len(data) < 128 else bytes([0x80 + len(size)]) + size) + data
            def integer(number): return value(2, number.to_bytes(number.bit_length() // 8 + 1, "big"))
            key = value(0x30, integer(2 ** 2048 - 1) + integer(int(sys.argv[1])))
            info = value(0x30, value(0x30, bytes.fromhex("06092a864886f70d0101010500")) + value(3, bytes(1) + key))
            print("-----BEGIN PUBLIC KEY-----\\n%s-----END PUBLIC KEY-----" % base64.encodebytes(info).decode())
            """
        let tooLong = "1" + String(repeating: "0", count: 80) + "1"
        for (exponent, isUsable) in [("3", true), ("65537", true), ("1", false), ("65536", false), (tooLong, false)] {
            let pem = try Command.python(script, [exponent]).joined(separator: "\n") + "\n"
            #expect((code { try JSONWebKey(pem: pem) } == nil) == isUsable, "\(exponent)")
        }
    }

    /// An attacker can sign with public data: a service that uses its PEM as a secret would accept that.
    @Test func `A public key is refused as a shared secret`() throws {
        for options in [
            "-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "-algorithm EC -pkeyopt ec_paramgen_curve:P-256",
            "-algorithm ed25519",
        ] {
            let pem = try publicKey(options)
            let script = "openssl pkey -pubin -outform DER <<'PEM' | od -An -v -tx1 | tr -d ' \\n'\n\(pem)PEM"
            let der = try shell(script).bytesOfHex
            #expect(der.first == 0x30 && der.count > 40)
            for secret in [Array(pem.utf8), Array("\n \t\(pem)".utf8), Array("key: \(pem)".utf8), der] {
                #expect(code { try JSONWebKey(secret: Secret(copying: secret)) } == .key, "\(options)")
                let json = "{\"kty\":\"oct\",\"k\":\"\(MadeToken.encoded(secret))\"}"
                #expect(code { try JSONWebKey(json: Array(json.utf8)) } == .key, "\(options)")
            }
        }
        let certificate = try shell(
            "openssl req -x509 -newkey ed25519 -noenc -keyout /dev/null -subj /CN=a -days 1 -outform DER 2>/dev/null | od -An -v -tx1 | tr -d ' \\n'"
        ).bytesOfHex
        #expect(code { try JSONWebKey(secret: Secret(copying: certificate)) } == .key)
        for text in ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB", "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAA"] {
            #expect(code { try JSONWebKey(secret: Secret(text)) } == .key)
        }
        // Bytes that only begin like DER are a valid secret.
        #expect(try JSONWebKey(secret: Secret(copying: [0x30] + [UInt8](repeating: 7, count: 31))).algorithms == [.hs256])
    }
}

extension String {
    fileprivate func replacingFirst(_ text: String, by other: String) -> String {
        guard let range = firstRange(of: text) else { return self }
        return replacingCharacters(range, other)
    }

    private func replacingCharacters(_ range: Range<Index>, _ other: String) -> String {
        String(self[..<range.lowerBound]) + other + String(self[range.upperBound...])
    }

    fileprivate var bytesOfHex: [UInt8] {
        let digits = Array(utf8).compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
