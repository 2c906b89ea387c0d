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
        let path = request.path
        // Three line breaks, a time of at most 20 digits, the body's hash, and behind the message its signature.
        let capacity = request.method.count + path.count + 23 + HMACKey.codeSize * 4
        try withByteWriter(capacity: capacity) { text throws(SchemeFailure) in
            text.append(request.method)
            text.append(ascii: "\n")
            text.append(path)
            text.append(ascii: "\n")
            let timeStart = text.count
            text.append(decimal: request.unixSeconds)
            let time = timeStart..<text.count
            text.append(ascii: "\n")
            if let bodyHash { text.append(hex: bodyHash) }
            let signatureStart = text.count
            text.append(hex: try key.authenticationCode(for: text.bytes).span)

            edits.setHeader("X-API-Key", apiKey)
            edits.setHeader("X-Timestamp", text.bytes.extracting(time))
            edits.setHeader("X-Signature", text.bytes.extracting(signatureStart...))
        }
    }
}

private let plugin = PluginExport(HMACAuth.self, name: "HMACAuth", version: "0.1.0", vendor: "NevodHost")
// The contract names it.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
