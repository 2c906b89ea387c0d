import NevodPluginCrypto

/// AWS Signature Version 4 in the Authorization header.
struct SigV4: AuthScheme {
    static let id = "aws-sigv4"
    static let title = "AWS Signature Version 4"

    /// S3 signs paths as they are sent, and requires the body's hash. Other services normalize paths and encode them again.
    enum Rules: String, CaseIterable, SettingValue { case general, s3 }
    enum Payload: String, CaseIterable, SettingValue { case hashed, unsigned }

    @Setting("access-key", help: "Id of the access key") var accessKey: String
    @Setting("secret-key", help: "Secret access key") var secretKey: Secret
    @Setting("session-token", help: "Token of temporary credentials") var sessionToken: Secret?
    @Setting("region", help: "Region in the signature's scope, such as eu-central-1") var region: String
    @Setting("service", help: "Service in the signature's scope, such as execute-api") var service: String
    @Setting("rules", default: .general, help: "How paths are signed; s3 for S3") var rules: Rules
    @Setting("payload", default: .hashed, help: "Whether the body is signed") var payload: Payload

    private var seed: HMACKey?

    mutating func prepare() throws(SchemeError) {
        let secret = Secret(count: 4 + secretKey.count) { memory in
            memory.copyBytes(from: "AWS4".utf8)
            secretKey.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: memory[4...]).copyMemory(from: $0) }
        }
        seed = try HMACKey(secret, .sha256)
    }

    var needs: Needs { payload == .hashed ? [.headers, .sha256] : .headers }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        guard let seed else { throw .internal("the key has not been prepared") }
        let time = TimeFormat.iso8601Basic.text(unixNanoseconds: request.unixNanoseconds)
        let day = TimeFormat.iso8601BasicDate.text(unixNanoseconds: request.unixNanoseconds)
        let body = try bodyHash(of: request)
        var added = [(name: "x-amz-date", value: time)]
        if let sessionToken { added.append(("x-amz-security-token", String(revealing: sessionToken))) }
        if rules == .s3 || payload == .unsigned { added.append(("x-amz-content-sha256", body)) }
        let headers = signedHeaders(of: request, added)
        let names = headers.map { $0.name }.joined(separator: ";")

        var canonical = HashStream(.sha256)
        canonical.append(request.method)
        canonical.append(ascii: "\n")
        if rules == .s3 {
            canonical.append(request.path)
        } else {
            canonical.append(normalizedPath: request.path, as: .rfc3986Path)
        }
        canonical.append(ascii: "\n")
        canonical.append(canonicalQuery: request.query, emptyValues: .withSign)
        canonical.append(ascii: "\n")
        for header in headers {
            canonical.append(text: "\(header.name):")
            canonical.append(header.value.span)
            canonical.append(ascii: "\n")
        }
        canonical.append(text: "\n\(names)\n\(body)")

        let scope = "\(day)/\(region)/\(service)/aws4_request"
        var key = try seed.code(of: day)
        for part in [region, service, "aws4_request"] { key = try HashFunction.sha256.hmac(key: key.bytes, of: part) }
        let message = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(try canonical.finish().hex)"
        let signature = try HashFunction.sha256.hmac(key: key.bytes, of: message).hex
        for header in added { edits.setHeader(header.name, header.value) }
        edits.setHeader(
            "Authorization",
            "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)")
    }

    private func bodyHash(of request: borrowing RequestView) throws(SchemeError) -> String {
        guard payload == .hashed else { return "UNSIGNED-PAYLOAD" }
        guard let digest = request.bodyDigest(.sha256) else {
            guard !request.hasBody else { throw .unsupported("a body that can be read only once needs payload=unsigned") }
            return try HashFunction.sha256.digest(of: "").hex
        }
        var text: [UInt8] = []
        text.append(hex: digest)
        return String(decoding: text, as: UTF8.self)
    }

    /// The request's lines and the added ones, by name. The values of one name are joined.
    private func signedHeaders(
        of request: borrowing RequestView, _ added: [(name: String, value: String)]
    ) -> [(name: String, value: [UInt8])] {
        var headers = added.map { (name: $0.name, value: Array($0.value.utf8)) }
        let left = ["authorization", "connection", "expect", "te", "user-agent", "x-amzn-trace-id"] + added.map { $0.name }
        request.forEachHeader { line, value in
            var bytes: [UInt8] = []
            bytes.append(lowercased: line)
            let name = String(decoding: bytes, as: UTF8.self)
            guard !left.contains(name) else { return }
            var text: [UInt8] = []
            text.append(collapsed: value)
            if let place = headers.firstIndex(where: { $0.name == name }) {
                headers[place].value += [UInt8(ascii: ",")] + text
            } else {
                headers.append((name, text))
            }
        }
        return headers.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
}

private let plugin = PluginExport(SigV4.self, name: "SigV4Auth", version: "1.0.0", vendor: "NevodHost")
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
