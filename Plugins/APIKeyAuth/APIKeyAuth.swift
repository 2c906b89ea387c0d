public import NevodPluginKit

/// Sends a key in a header.
struct APIKeyAuth: AuthScheme {
    static let id = "api-key"
    static let title = "API key in a header"

    @Setting("key", help: "The key") var key: Secret
    @Setting("header", default: "X-API-Key", help: "Header of the key") var header: String
    @Setting("prefix", help: "What stands before the key, with a space between, such as Bearer") var prefix: String?

    private var name: [UInt8] = []
    private var start: [UInt8] = []

    mutating func prepare() throws(SchemeError) {
        guard !key.isEmpty else { throw .badSetting("key", "must not be empty") }
        guard !header.isEmpty else { throw .badSetting("header", "must not be empty") }
        name = Array(header.utf8)
        start = prefix.map { $0.isEmpty ? [] : Array("\($0) ".utf8) } ?? []
    }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) {
        withByteWriter(capacity: start.count + key.count) { value in
            value.append(start.span)
            key.withUnsafeBytes { value.append(Span(_unsafeBytes: $0)) }
            edits.setHeader(name, value.bytes)
        }
    }
}

/// Appends a key to the query.
struct APIKeyQueryAuth: AuthScheme {
    static let id = "api-key-query"
    static let title = "API key in the query"

    @Setting("key", help: "The key") var key: Secret
    @Setting("parameter", default: "api_key", help: "Query item of the key") var parameter: String

    mutating func prepare() throws(SchemeError) {
        guard !key.isEmpty else { throw .badSetting("key", "must not be empty") }
        guard !parameter.isEmpty else { throw .badSetting("parameter", "must not be empty") }
    }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) {
        edits.addQueryItem(parameter, key)
    }
}

private let plugin = PluginExport(
    APIKeyAuth.self, APIKeyQueryAuth.self, name: "APIKeyAuth", version: "0.2.0", vendor: "NevodHost")
// The contract names it.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
