import CPeers
import Glibc
import NevodJWT
import NevodSupport

/// Compares the verification of a token with libcrypto alone on the same bytes, with a key that is ready.
struct JWTBench {
    private struct Case {
        let name: String
        let algorithm: JWTAlgorithm
        let peer: Int
        let count: Int
    }

    private static let cases = [
        Case(name: "RS256 (2048 bits)", algorithm: .rs256, peer: CPEERS_RS256, count: 500),
        Case(name: "ES256", algorithm: .es256, peer: CPEERS_ES256, count: 200),
        Case(name: "EdDSA (Ed25519)", algorithm: .edDSA, peer: CPEERS_ED25519, count: 200),
        Case(name: "HS256", algorithm: .hs256, peer: CPEERS_HS256, count: 5000),
    ]
    private static let secret = Array("0123456789abcdef0123456789abcdef".utf8)
    private static let verifiedAt = 1_700_000_000.0
    /// The claims of an access token (RFC 9068 §2.2).
    private static let claims =
        #"{"iss":"https://id.example.com","sub":"5ba552d67","aud":["https://api.example.com","orders"],"exp":1700003600,"iat":1700000000,"#
        + #""nbf":1700000000,"jti":"dbe39bf3a3ba4238a513f51d6e1691c4","client_id":"s6BhdRkqt3","scope":"orders.read orders.write","#
        + #""name":"Ada Example","roles":["admin","buyer"]}"#

    func run() throws {
        row(["jwt", "libcrypto alone", "verify", "libcrypto ÷ verify", "difference", "allocations", "libcrypto's"])
        row(Array(repeating: "---", count: 7))
        for test in Self.cases { try measure(test) }
    }

    private func measure(_ test: Case) throws {
        let header = #"{"alg":"\#(test.algorithm.rawValue)","typ":"at+jwt","kid":"2024-key-1"}"#
        let signed = Array("\(Self.encoded(Array(header.utf8))).\(Self.encoded(Array(Self.claims.utf8)))".utf8)
        guard let peer = cpeers_signature_new(Int32(test.peer), Self.secret, Self.secret.count, signed, signed.count) else {
            throw BenchError(description: "libcrypto refuses")
        }
        defer { cpeers_signature_free(peer) }
        var signature = [UInt8](repeating: 0, count: 512)
        signature.removeLast(512 - cpeers_signature_bytes(peer, &signature))
        let token = "\(String(decoding: signed, as: UTF8.self)).\(Self.encoded(signature))"
        let keys = [try key(test, peer)]
        let verifier = JWTVerifier(
            algorithms: [test.algorithm], issuer: "https://id.example.com", audience: "orders", type: "at+jwt")

        func libcrypto(_ count: Int) throws {
            for _ in 0..<count where cpeers_signature_verify(peer, signed, signed.count) != 1 {
                throw BenchError(description: "libcrypto refuses the signature")
            }
        }
        func verify(_ count: Int) throws {
            for _ in 0..<count {
                let claims = try verifier.verify(token, with: keys, at: Self.verifiedAt)
                guard claims.contains("sub") else { throw BenchError(description: "no claims") }
            }
        }
        var (bare, whole): ([Double], [Double]) = ([], [])
        try libcrypto(test.count)
        try verify(test.count)
        for _ in 0..<41 {
            bare.append(try time(test.count) { try libcrypto(test.count) })
            whole.append(try time(test.count) { try verify(test.count) })
        }
        row([
            test.name, "\(rounded(median(bare) * 1e6, 2)) µs", "\(rounded(median(whole) * 1e6, 2)) µs",
            rounded(median(zip(bare, whole).map { $0 / $1 }), 2),
            "\(rounded((median(whole) - median(bare)) * 1e6, 2)) µs",
            rounded(try allocations(verify), 1), rounded(try allocations(libcrypto), 1),
        ])
    }

    private func key(_ test: Case, _ peer: OpaquePointer) throws -> JSONWebKey {
        guard test.algorithm != .hs256 else { return try JSONWebKey(secret: Secret(copying: Self.secret), keyID: "2024-key-1") }
        var pem = [CChar](repeating: 0, count: 4096)
        let count = cpeers_signature_pem(peer, &pem, pem.count)
        let text = String(decoding: pem[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return try JSONWebKey(pem: text, keyID: "2024-key-1")
    }

    private func time(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return (now() - start) / Double(count)
    }

    private func allocations(_ body: (_ count: Int) throws -> Void) rethrows -> Double {
        let start = cpeers_allocations()
        try body(100)
        return Double(cpeers_allocations() - start) / 100
    }

    private static func encoded(_ bytes: [UInt8]) -> String {
        String(unsafeUninitializedCapacity: Base64.digitCount(bytes.count)) { text in
            guard let start = text.baseAddress else { return 0 }
            Base64.encode(bytes.span, .url, to: start)
            return Base64.digitCount(bytes.count)
        }
    }
}
