internal import NevodPluginKit
internal import NevodSupport

extension OAuth2Auth {
    /// Obtains a token to replace an expired or refused token (RFC 6749 §6).
    ///
    /// The refresh token is sent once. If no response arrives, the server may have replaced it. Then the error is transient, the
    /// stored token stays, and the next renewal sends it again: a server with a grace period accepts it, and any other server
    /// refuses it, which ends the session.
    ///
    /// - Throws: ``SchemeError/badToken(_:)`` if a login is needed. The host then decides whether a person may be asked.
    func renew(_ flow: AuthFlow, _ old: StoredToken) async throws(SchemeError) -> IssuedToken {
        guard let refreshToken = old.refreshToken else {
            throw .badToken("the server has issued no refresh token; many do for the scope offline_access")
        }
        let server = try await TokenEndpoint(of: self, flow, try await endpoints(flow, of: old)).withProofs(renewing: old)
        var fields: FormFields = ["grant_type": "refresh_token", "refresh_token": .secret(refreshToken)]
        // Without a scope, the server grants the same as before, even if that was less than requested.
        if let scope = Scopes.narrowed(from: old.scope, to: flow.parameters("scope")) { fields.append("scope", .text(scope)) }
        server.recipients(&fields)
        do {
            return try await server.token(fields, as: "the renewal", replacing: old).issued
        } catch {
            // With `grant=refresh-token`, the token from the settings is already spent, or was just refused. It isn't tried again,
            // because servers treat a second use as theft.
            guard error.isDenied, !grant.needsPerson, grant != .refreshToken else { throw error }
            throw .badToken("the server refused the refresh token, and this grant doesn't need one")
        }
    }
}

extension Grant {
    /// Whether a login asks a person, so that only a refresh token can renew a session automatically.
    var needsPerson: Bool {
        switch self {
        case .code, .device: true
        // These ask a person only if a setting is missing.
        case .clientCredentials, .password, .tokenExchange, .jwtBearer, .refreshToken, .metadata: false
        }
    }
}

/// Scopes in texts, separated by spaces (RFC 6749 §3.3), or by commas as GitHub and Slack do.
enum Scopes {
    /// Returns the requested scopes if the server has granted all of them and more; otherwise nil.
    static func narrowed(from granted: String?, to asked: [String]) -> String? {
        guard let granted else { return nil }
        let all = Set(list(granted))
        let wanted = asked.flatMap { list($0) }
        let distinct = Set(wanted)
        guard !wanted.isEmpty, distinct.count < all.count, distinct.isSubset(of: all) else { return nil }
        return wanted.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    /// The parts between spaces.
    static func words(_ text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: " ")).map { String(Substring($0)) }
    }

    private static func list(_ text: String) -> [[UInt8]] {
        let spaced = text.utf8.map { $0 == UInt8(ascii: ",") ? UInt8(ascii: " ") : $0 }
        return spaced.split(separator: UInt8(ascii: " ")).map { Array($0) }
    }
}
