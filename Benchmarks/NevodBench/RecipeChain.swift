import CPeers
import Glibc
import NevodHost

/// A recipe that derives its key in four steps and signs the hash of a canonical request, like AWS Signature Version 4, and the
/// same computation with libcrypto alone.
struct RecipeChain {
    private static let recipe = [
        "let day = {time|basic-date}", "let region = eu-west-1", "let service = execute-api", "let end = aws4_request",
        "let k1 = {day|hmac:sha256:secret}", "let k2 = {region|hmac:sha256:k1}", "let k3 = {service|hmac:sha256:k2}",
        "let k4 = {end|hmac:sha256:k3}", "let canonical = {method}\\n{path}\\n{query}\\nhost:{host}\\n\\nhost\\n",
        "let message = AWS4-HMAC-SHA256\\n{time|basic}\\n{canonical|sha256|hex}",
        "header X-Signature = {message|hmac:sha256:k4|hex}", "header X-Amz-Date = {time|basic}",
    ]
    private let key: [UInt8]
    private let token: PluginToken
    private let request: HTTPRequest

    init(key: [UInt8]) throws {
        self.key = key
        var settings: SchemeSettings = ["api-key": "demo", "secret": .secret(Secret(copying: key))]
        for line in Self.recipe { settings.add("recipe", .text(line)) }
        token = try Plugin(named: "libHMACAuth.so").scheme("hmac").makeInstance(settings: settings).token
        request = try HTTPRequest(.get, "https://api.example.com/v1/orders?limit=10")
    }

    func authorize(_ count: Int) throws {
        var request = request
        try token.authorize(&request)
        for _ in 0..<count { try token.authorize(&request) }
        guard request.headers["X-Signature"]?.count == 64 else { throw BenchError(description: "not signed") }
    }

    func libcrypto(_ count: Int) throws {
        let canonical = Array("GET\n/v1/orders\nlimit=10\nhost:api.example.com\n\nhost\n".utf8)
        let texts = ["20231114", "eu-west-1", "execute-api", "aws4_request"]
        let parts = texts.map { (text: String) -> UnsafePointer<CChar>? in UnsafePointer(strdup(text)) }
        defer { for part in parts { free(UnsafeMutablePointer(mutating: part)) } }
        try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { hex in
            guard let out = hex.baseAddress else { return }
            for _ in 0..<count {
                let failed = parts.withUnsafeBufferPointer { pointers in
                    cpeers_chain_hex(
                        key, key.count, pointers.baseAddress, canonical, canonical.count, "AWS4-HMAC-SHA256\n20231114T221320Z\n",
                        out)
                }
                guard failed == 0 else { throw BenchError(description: "libcrypto refuses") }
            }
        }
    }
}
