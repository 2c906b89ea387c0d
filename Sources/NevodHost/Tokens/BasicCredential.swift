internal import NevodSupport

/// A user name and a password, sent with each request (RFC 7617).
public struct BasicCredential: TokenModel {
    private let userAndPassword: Secret

    /// - Parameter userAndPassword: `name:password` in UTF-8; the first colon ends the name.
    public init(_ userAndPassword: Secret) {
        self.userAndPassword = userAndPassword
    }

    public static var requirement: AuthRequirement { .basic }

    public func authorize(_ request: inout HTTPRequest) throws {
        try request.setHeader("Authorization", "Basic " + userAndPassword.withUnsafeBytes { Base64.encoded($0) })
    }

    public func encode() throws -> [UInt8] {
        userAndPassword.withUnsafeBytes { Array($0) }
    }

    public static func decode(from data: [UInt8]) throws -> BasicCredential {
        BasicCredential(Secret(copying: data))
    }
}
