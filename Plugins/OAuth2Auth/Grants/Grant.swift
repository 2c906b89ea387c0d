internal import NevodPluginKit

/// How a token is obtained (RFC 6749 §1.3, and those that other documents add).
enum Grant: String, CaseIterable, SettingValue {
    /// Authorization code with PKCE (RFC 6749 §4.1, RFC 7636): a person logs in with a browser.
    case code
    /// Device authorization (RFC 8628): a person enters a code on another device.
    case device
    /// For the client itself (RFC 6749 §4.4).
    case clientCredentials = "client-credentials"
    /// A user's name and password (RFC 6749 §4.3). Legacy: RFC 9700 §2.4 forbids it.
    case password
    /// For another token (RFC 8693).
    case tokenExchange = "token-exchange"
    /// For a signed assertion (RFC 7523 §2.1).
    case jwtBearer = "jwt-bearer"
    /// A refresh token that was obtained elsewhere (RFC 6749 §6).
    case refreshToken = "refresh-token"
    /// A token that the platform issues to this machine, container or job; no authorization server takes part.
    case metadata
}

extension OAuth2Auth {
    /// Refuses settings that the grant lacks, or has no use for, and reads those of grants without a person.
    mutating func prepareGrant() throws(SchemeError) {
        try password.check(grant)
        if grant != .refreshToken { try Self.refuse([("refresh-token", refreshToken != nil)], without: "grant=refresh-token") }
        if let refreshToken, refreshToken.isEmpty {
            throw .badSetting("refresh-token", "must not be empty; without it, it is asked for")
        }
        let isWorkloadUsed =
            grant == .metadata || assertsWorkload || grant == .tokenExchange && !exchange.hasSubject
            || grant == .jwtBearer && !assertions.isGiven
        let hasWorkload = workload.isGiven
        try exchange.prepare(grant, hasWorkload: hasWorkload)
        try assertions.prepare(grant, hasWorkload: hasWorkload, clientID: clientID)
        try workload.prepare(isUsed: isWorkloadUsed)
        // Anybody could get such a token (RFC 6749 §4.4).
        if grant == .clientCredentials, isPublicClient {
            throw .badSetting(
                "client-secret", "or client-key is needed for grant=client-credentials; or client-auth=tls with --cert")
        }
    }

    /// Refuses settings that have no meaning.
    ///
    /// - Parameter condition: what is missing, as a setting.
    static func refuse(_ settings: [(name: String, isGiven: Bool)], without condition: String) throws(SchemeError) {
        if let setting = settings.first(where: { $0.isGiven }) {
            throw .badSetting(setting.name, "has no meaning without \(condition)")
        }
    }
}
