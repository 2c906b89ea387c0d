internal import NevodSupport

/// A token that is made of a secret, and becomes one, without a copy in memory that nobody wipes.
protocol SecretlyStored: TokenModel {
    func encoded() -> Secret
    init(stored bytes: UnsafeRawBufferPointer) throws(UnreadableTokenError)
}
