public import Foundation
public import NevodHost

/// The second factor that a server asks for: what an app needs to ask its user. All properties are optional, because servers
/// differ.
public struct MFAChallenge: Sendable, Hashable, Codable {
    /// The kind of factor, in the server's words, such as `totp` or `sms`.
    public var method: String?
    /// Where the code is or was sent, as far as the server shows it, such as `+48 ••• 12`.
    public var destination: String?
    /// When the challenge expires.
    public var expiresAt: Date?

    /// Creates a challenge.
    public init(method: String? = nil, destination: String? = nil, expiresAt: Date? = nil) {
        self.method = method
        self.destination = destination
        self.expiresAt = expiresAt
    }
}

extension MFAChallenge: CustomStringConvertible {
    /// The kind of factor, without the destination, which may be a user's telephone number.
    public var description: String { method ?? "a second factor" }
}

/// What a failed login means for its second factor.
public enum MFAStatus: Sendable, Hashable {
    /// The password was right, and the server asks for a second factor, or for another one.
    ///
    /// - `sessionId`: the server's identifier of the login in progress.
    case required(challenge: MFAChallenge, sessionId: String)
    /// The code was wrong. The challenge can still be met.
    ///
    /// - `attemptsLeft`: how many more codes the server takes; nil if it doesn't say.
    case wrongCode(attemptsLeft: Int?)
    /// The challenge has expired, or too many codes were wrong. The user must log in again.
    case expired
}

extension MFAStatus: Redacted {
    /// The case, without the identifier of the login.
    public var description: String {
        switch self {
        case .required(let challenge, _): "required(\(challenge))"
        case .wrongCode: "wrongCode"
        case .expired: "expired"
        }
    }
}

/// The body of a failed login, which may ask for a second factor. An app's own type says how its server does that:
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
