public import NevodPluginKit
internal import NevodSupport

/// Signs each request with a shared key.
///
/// By default, the message is `METHOD\nPATH\nTIMESTAMP\nBODYHASH`: the path percent-encoded as sent and without the query, the time
/// in Unix seconds, and the SHA-256 of the body in hex, or nothing if there is no body. Its HMAC-SHA256 (RFC 2104) is sent in hex.
/// For other vendors' schemes, there are recipes, and settings that are a recipe's short form. Docs/schemes/hmac.md has examples.
struct HMACAuth: AuthScheme {
    static let id = "hmac"
    static let title = "HMAC request signature"
    static let authorizesProxies = true

    @Setting("api-key", help: "Key id, sent in X-API-Key; may be empty where there is none") var apiKey: String
    @Setting("secret", help: "Shared key of the signature") var secret: Secret
    @Setting("passphrase", help: "Second secret, for a recipe that uses one") var passphrase: Secret?
    @Setting("token", help: "Token of a session or a client, for a recipe that uses one") var token: Secret?
    @Setting("memo", help: "Further secret, for a recipe that uses one") var memo: Secret?
    @Setting(
        "recipe", help: "What is signed and sent: statements, one per line; replaces the settings below, except secret-encoding")
    var recipe: [String]
    @Setting("secret-encoding", default: .text, help: "How the secret is written") var secretEncoding: SecretEncoding
    @Setting("algorithm", default: .sha256, help: "Hash of the HMAC") var algorithm: SignatureHash
    @Setting("message", default: "{method}\\n{path}\\n{timestamp}\\n{body-hash}", help: "What is signed, as a template")
    var message: String
    @Setting("encoding", default: .hex, help: "How the signature is written") var encoding: ByteEncoding
    @Setting("timestamp", default: .seconds, help: "How the time is written") var timestamp: TimestampFormat
    @Setting("body-hash", help: "Hash of {body-hash}; same as algorithm if missing") var bodyHash: SignatureHash?
    @Setting("body-hash-encoding", default: .hex, help: "How {body-hash} is written") var bodyHashEncoding: ByteEncoding
    @Setting("empty-body-hash", default: .nothing, help: "Value of {body-hash} without a body") var emptyBodyHash: EmptyBodyHash
    @Setting("key-header", default: "X-API-Key", help: "Header of the key id; none if empty") var keyHeader: String
    @Setting("timestamp-header", default: "X-Timestamp", help: "Header of a time that is signed; none if empty")
    var timestampHeader: String
    @Setting("nonce-header", default: "X-Nonce", help: "Header of a nonce that is signed; none if empty") var nonceHeader: String
    @Setting("body-hash-header", default: "", help: "Header of {body-hash}; none if empty") var bodyHashHeader: String
    @Setting("signature-header", default: "X-Signature", help: "Header of the signature; none if empty")
    var signatureHeader: String
    @Setting("signature-value", default: "{signature}", help: "What is sent as the signature, as a template")
    var signatureValue: String
    @Setting("timestamp-query", default: "", help: "Query item of a time that is signed; none if empty") var timestampQuery:
        String
    @Setting("signature-query", default: "", help: "Query item of the signature; none if empty") var signatureQuery: String

    @Setting("nonce", default: "", help: "A fixed nonce, to compare with an example; never for requests that are sent")
    var nonce: String
    @Setting("explain", default: false, help: "Write each step of a signature to the log, without secrets") var explain: Bool

    let log = HostLog()
    private var signer: Signer?

    mutating func prepare() throws(SchemeError) {
        signer = try Signer(self)
        if !nonce.isEmpty {
            log(.warning, "each request has the same nonce, for a comparison; a server should accept it only once")
        }
    }

    var needs: Needs { signer?.needs ?? [] }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        guard let signer else { throw .internal("the key has not been prepared") }
        guard !request.isForProxy || signer.fitsProxies else {
            throw .unsupported("for a proxy, signature-header must be Proxy-Authorization, and nothing else may be sent")
        }
        try signer.sign(request, edits)
    }
}

private let plugin = PluginExport(HMACAuth.self, name: "HMACAuth", version: "0.3.0", vendor: "NevodHost")
// The contract defines this name.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
