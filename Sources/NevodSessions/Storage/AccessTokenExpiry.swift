internal import Foundation
internal import NevodSupport

/// The expiry in an access token that looks like a JSON Web Token (RFC 7519), but isn't one by the letter, such as one with padding:
/// some servers issue those, and accept them.
enum AccessTokenExpiry {
    private struct Claims: Decodable {
        let exp: Double?
    }

    /// Returns the date of the claim `exp`; nil for any other text. Not verified: only the server can tell whether the token is
    /// genuine, and it decides nothing here but when to renew.
    static func date(in token: String) -> Date? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].utf8.count <= 1 << 16, let json = Base64.decoded(Array(parts[1].utf8), .any),
            let exp = (try? JSONDecoder().decode(Claims.self, from: Data(json)))?.exp, (0...9e9).contains(exp)
        else { return nil }
        return Date(timeIntervalSince1970: exp)
    }
}
