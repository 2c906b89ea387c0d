public import NevodPluginKit

/// Signs each request with a shared key.
///
/// The message is `METHOD\nPATH\nTIMESTAMP\nBODYHASH`: the path percent-encoded as sent and without the query, the time in
/// Unix seconds, the SHA-256 of the body in hex or nothing without a body. Its HMAC-SHA256 (RFC 2104) goes out in hex.
struct HMACAuth: AuthScheme {
    static let id = "hmac"
    static let title = "HMAC request signature"

    @Setting("api-key", help: "Key id, sent in X-API-Key") var apiKey: String
    @Setting("secret", help: "Shared key of the signature") var secret: Secret

    private var key: HMACKey?

    mutating func prepare() throws(SchemeFailure) {
        guard !secret.isEmpty else { throw .badSetting("secret", "must not be empty") }
        key = try HMACKey(secret)
    }

    var needs: Needs { .sha256 }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeFailure) {
        guard let key else { throw .internal("the key has not been prepared") }
        let bodyHash = request.bodyDigest(.sha256)
        if request.hasBody, bodyHash == nil {
            throw .unsupported("a body that can be read only once can't be signed; send it from a file or from memory")
        }
        try withByteWriter(capacity: request.method.count + request.path.count + 96) { message throws(SchemeFailure) in
            message.append(request.method)
            message.append(ascii: "\n")
            message.append(request.path)
            message.append(ascii: "\n")
            let timeStart = message.count
            message.append(decimal: request.unixSeconds)
            let time = timeStart..<message.count
            message.append(ascii: "\n")
            if let bodyHash { message.append(hex: bodyHash) }

            let signature = try key.authenticationCode(for: message.bytes)
            edits.setHeader("X-API-Key", apiKey)
            edits.setHeader("X-Timestamp", message.bytes.extracting(time))
            withByteWriter(capacity: HMACKey.codeSize * 2) { hex in
                hex.append(hex: signature.span)
                edits.setHeader("X-Signature", hex.bytes)
            }
        }
    }
}

private let plugin = PluginExport(HMACAuth.self, name: "HMACAuth", version: "0.1.0", vendor: "NevodHost")
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
