public import NevodJWT

/// Names the user of a token in statistics. By default users are not counted, and no label has a user.
///
/// ```swift
/// let analytics = TokenAnalytics(users: .byClaim("sub"))
/// ```
///
/// The label is kept in memory and exported as it is. Where an identifier must not leave the program, `by(_:)` returns another text
/// in its place, such as a keyed digest.
public struct UserLabel: Sendable {
    let label: (@Sendable (JWTClaims) -> String?)?

    /// Counts no users.
    public static let none = UserLabel(label: nil)

    /// Counts by a claim of the access token, which is a string or a whole number, such as `sub` (RFC 7519 §4.1.2).
    public static func byClaim(_ name: String) -> UserLabel {
        UserLabel { claims in claims[string: name] ?? claims[int: name].map(String.init) }
    }

    /// Counts by what a function makes of the access token's claims, which are not verified; nil for a token that isn't counted.
    public static func by(_ label: @escaping @Sendable (JWTClaims) -> String?) -> UserLabel {
        UserLabel(label: label)
    }
}
