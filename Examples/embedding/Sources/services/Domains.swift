import NevodHostFoundation

enum AppDomains: ServiceDomain {
    case mainAPI  // OAuth
    case adminAPI  // API key in a header
    case legacyAPI  // cookie
    case mapsAPI  // API key in the query
    case partnerAPI  // two headers of its own
    case signedAPI  // HMAC

    var identifier: String {
        switch self {
        case .mainAPI: return "main"
        case .adminAPI: return "admin"
        case .legacyAPI: return "legacy"
        case .mapsAPI: return "maps"
        case .partnerAPI: return "partner"
        case .signedAPI: return "signed"
        }
    }
}

extension StorageKey {
    static let cookies: StorageKey = "cookies"
    static let apiKey: StorageKey = "api-key"
    static let mapsKey: StorageKey = "maps-key"
    static let hmac: StorageKey = "hmac"
}

let config = NetworkConfig(
    environments: [
        AppDomains.mainAPI: SimpleEnvironment(baseURL: "http://api.example.com"),
        AppDomains.adminAPI: SimpleEnvironment(baseURL: "http://admin.example.com"),
        AppDomains.legacyAPI: SimpleEnvironment(baseURL: "http://legacy.example.com"),
        AppDomains.mapsAPI: SimpleEnvironment(baseURL: "http://maps.example.com"),
        AppDomains.partnerAPI: SimpleEnvironment(baseURL: "http://partner.example.com"),
        AppDomains.signedAPI: SimpleEnvironment(baseURL: "http://signed.example.com"),
    ],
    timeout: 30)

/// Each service's response: the scheme that it has verified.
struct Verified: Decodable {
    let scheme: String
}
