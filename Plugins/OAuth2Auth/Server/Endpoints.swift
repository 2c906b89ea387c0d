internal import NevodPluginKit
internal import NevodSupport

/// The addresses of an authorization server, and what its metadata say that it supports (RFC 8414 §2).
struct Endpoints: Sendable {
    /// The origin of the addresses.
    enum Source: Sendable {
        /// The settings alone.
        case settings
        /// The issuer's metadata, and the settings.
        case metadata
        /// The metadata as of an earlier flow, kept with the token.
        case token
    }

    /// The issuer's identifier, as in its metadata; nil without a setting for it.
    var issuer: String?
    var authorization: String?
    var token: String
    var device: String?
    var pushedRequests: String?
    var revocation: String?
    /// Where the keys of ID tokens are (`jwks_uri`).
    var keys: String?
    /// `token_endpoint_auth_methods_supported`; empty if unknown.
    var clientMethods: [String] = []
    /// `token_endpoint_auth_signing_alg_values_supported`; empty if unknown.
    var assertionAlgorithms: [String] = []
    /// `code_challenge_methods_supported`; empty if unknown.
    var challengeMethods: [String] = []
    /// Whether each authorization response names the issuer (RFC 9207 §3).
    var namesIssuer = false
    /// Whether authorization requests must be pushed (RFC 9126 §5).
    var requiresPushedRequests = false
    /// `dpop_signing_alg_values_supported` (RFC 9449 §5.1); empty if unknown.
    var proofAlgorithms: [String] = []
    var source = Source.settings

    /// Those to keep with a token: nil if settings name all that a renewal needs.
    var kept: Endpoints? { source == .settings ? nil : self }
}
