public import NevodPluginKit
internal import NevodSupport

/// Sends keys in headers.
struct APIKeyAuth: AuthScheme {
    static let id = "api-key"
    static let title = "API key in a header"

    @Setting("key", help: "The key; each of several keys has its own header") var keys: Keys
    @Setting("header", default: "X-API-Key", help: "Header of the key; for several keys, one each in the same order")
    var headers: KeyNames
    @Setting("prefix", help: "Text before the key, such as Bearer or Token token=; for several keys, one each in the same order")
    var prefixes: [String]

    private var named = NamedKeys()
    private var starts: [[UInt8]] = []

    mutating func prepare() throws(SchemeError) {
        named = try NamedKeys(headers, "header", keys, in: .header)
        guard prefixes.isEmpty || prefixes.count == named.keys.count else {
            let counts = "prefixes \(prefixes.count), keys \(named.keys.count)"
            throw .badSetting(
                "prefix", "must be given once for each key, in the keys' order, and empty for a key without one: \(counts)")
        }
        for (index, (_, key)) in named.keys.enumerated() {
            starts.append(index < prefixes.count ? try Self.start(prefixes[index]) : [])
            guard starts[index].count + key.count <= NamedKeys.Place.mostOfValue else {
                throw .badSetting("key", "must not have more than \(NamedKeys.Place.mostOfValue) bytes with its prefix")
            }
        }
    }

    /// The bytes before a key.
    private static func start(_ prefix: String) throws(SchemeError) -> [UInt8] {
        guard let last = prefix.utf8.last, let first = prefix.utf8.first else { return [] }
        guard prefix.utf8.allSatisfy({ $0.isFieldByte }), !first.isBlank else {
            throw .badSetting("prefix", "must not begin with a space or contain a control character, such as a line break")
        }
        let isWord = last.isAlphanumeric || last >= 0x80
        return Array(prefix.utf8) + (isWord ? [0x20] : [])
    }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) {
        for index in named.keys.indices {
            let (name, key) = named.keys[index]
            let start = starts[index]
            withByteWriter(capacity: start.count + key.count) { value in
                value.append(start.span)
                key.withUnsafeBytes { value.append(Span(_unsafeBytes: $0)) }
                edits.setHeader(name, value.bytes)
            }
        }
    }
}

/// Appends keys to the query.
struct APIKeyQueryAuth: AuthScheme {
    static let id = "api-key-query"
    static let title = "API key in the query"

    @Setting("key", help: "The key; each of several keys has its own query item") var keys: Keys
    @Setting("parameter", default: "api_key", help: "Query item of the key; for several keys, one each in the same order")
    var parameters: KeyNames

    private var named = NamedKeys()

    mutating func prepare() throws(SchemeError) {
        named = try NamedKeys(parameters, "parameter", keys, in: .query)
    }

    /// If the request is sent again, the host first removes the items that were added before (`AddedQueryItems`), so they aren't
    /// added twice.
    func authorize(_ request: borrowing RequestView, _ edits: Edits) {
        for (name, key) in named.keys {
            key.withUnsafeBytes { edits.addQueryItem(name, Span(_unsafeBytes: $0)) }
        }
    }
}

/// Sends keys as cookies.
struct APIKeyCookieAuth: AuthScheme {
    static let id = "api-key-cookie"
    static let title = "API key in a cookie"

    @Setting("key", help: "The key; each of several keys has its own cookie") var keys: Keys
    @Setting("cookie", help: "Cookie of the key; for several keys, one each in the same order") var cookies: KeyNames

    private var named = NamedKeys()

    mutating func prepare() throws(SchemeError) {
        named = try NamedKeys(cookies, "cookie", keys, in: .cookie)
    }

    func authorize(_ request: borrowing RequestView, _ edits: Edits) {
        for (name, key) in named.keys {
            key.withUnsafeBytes { edits.addCookie(name, Span(_unsafeBytes: $0)) }
        }
    }
}

private let plugin = PluginExport(
    APIKeyAuth.self, APIKeyQueryAuth.self, APIKeyCookieAuth.self, name: "APIKeyAuth", version: "0.2.0", vendor: "NevodHost")
// The contract defines this name.
// swift-format-ignore: AlwaysUseLowerCamelCase
@c @implementation public func nevod_plugin_v1() -> UnsafePointer<nevod_plugin>! { plugin.table }
