/// A token as a host stores it: issued by a flow, or made up by a test.
public struct TestToken: Sendable, Equatable {
    /// The bytes, which only the scheme understands.
    public var bytes: [UInt8]
    /// Seconds since 1970-01-01T00:00:00Z; nil if unknown.
    public var expiresAt: Int64?
    /// The account it belongs to; may be empty.
    public var account: String

    /// Makes a token.
    public init(_ bytes: [UInt8], expiresAt: Int64? = nil, account: String = "") {
        self.bytes = bytes
        self.expiresAt = expiresAt
        self.account = account
    }

    /// Makes a token of a text.
    public init(_ text: String, expiresAt: Int64? = nil, account: String = "") {
        self.init(Array(text.utf8), expiresAt: expiresAt, account: account)
    }

    init(_ token: ContractToken) {
        let seconds = token.expiresAt / 1_000_000_000
        self.init(
            token.bytes, expiresAt: token.expiresAt > 0 ? seconds : nil, account: String(decoding: token.account, as: UTF8.self))
    }

    var contract: ContractToken {
        let (time, overflow) = (expiresAt ?? 0).multipliedReportingOverflow(by: 1_000_000_000)
        return ContractToken(bytes, expiresAt: overflow ? .max : time, account: Array(account.utf8))
    }

    /// The bytes as text; those that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}
