internal import NevodCrypto
internal import NevodPluginKit

extension SchemeError {
    init(_ error: CryptoError) {
        self = .internal(error.message, detail: error.detail)
    }

    /// A key that can't be used.
    init(_ error: CryptoError, setting: String) {
        self = .badSetting(setting, "is not a key that can be used: \(error.message)")
    }
}
