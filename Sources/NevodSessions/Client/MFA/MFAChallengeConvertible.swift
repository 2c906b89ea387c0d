/// The body of a login's failure, which may ask for a second factor. An app's own type says how its server does that:
///
/// ```swift
/// struct LoginError: MFAChallengeConvertible {
///     let code: String
///     let sessionId: String?
///     let mfaChallenge: MFAChallenge?
///
///     var mfaStatus: MFAStatus? {
///         switch code {
///         case "MFA_REQUIRED": .required(challenge: mfaChallenge ?? MFAChallenge(), sessionId: sessionId ?? "")
///         case "MFA_WRONG_CODE": .wrongCode(attemptsLeft: nil)
///         case "MFA_EXPIRED": .expired
///         default: nil
///         }
///     }
/// }
/// ```
public protocol MFAChallengeConvertible: Decodable, Sendable {
    /// The meaning for the second factor; nil for any other failure, such as a wrong password.
    var mfaStatus: MFAStatus? { get }
}
