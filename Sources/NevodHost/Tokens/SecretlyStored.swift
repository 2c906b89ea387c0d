internal import NevodSupport

/// A token that is encoded to and decoded from a `Secret`, without an intermediate copy in memory that isn't wiped.
protocol SecretlyStored: TokenModel {
    func encoded() -> Secret
    init(stored bytes: UnsafeRawBufferPointer) throws(UnreadableTokenError)
}
