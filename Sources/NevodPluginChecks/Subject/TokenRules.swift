internal import NevodPluginABI
internal import NevodPluginTesting

/// The host's rules for a token that a flow issues; see `nevod_token`.
enum TokenRules {
    /// The fault of a token, to follow "a token that".
    static func problem(_ token: ContractToken?, isLogout: Bool) -> String? {
        guard let token else { return "can't be read" }
        if isLogout { return token.bytes.isEmpty ? nil : "has \(token.bytes.count) bytes at the end of a logout" }
        if token.bytes.isEmpty { return "has no bytes" }
        if token.bytes.count > Int(NEVOD_LIMIT_TOKEN) { return "has \(token.bytes.count) bytes, more than NEVOD_LIMIT_TOKEN" }
        if token.account.count > Int(NEVOD_LIMIT_ACCOUNT) {
            return "has an account of \(token.account.count) bytes, more than NEVOD_LIMIT_ACCOUNT"
        }
        if String(validating: token.account, as: UTF8.self) == nil { return "has an account that isn't UTF-8" }
        if token.expiresAt != 0, token.expiresAt <= PlausibleServer.now { return "expired before it was issued" }
        return token.reserved == 0 ? nil : "has a reserved field that isn't zero"
    }
}
