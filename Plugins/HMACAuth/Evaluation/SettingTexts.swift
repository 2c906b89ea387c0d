internal import NevodPluginKit
internal import NevodSupport

/// The settings whose values recipes use.
struct SettingTexts: Sendable {
    let key: [UInt8]
    /// Decoded.
    let secret: Secret
    let passphrase, token, memo: Secret?

    func isGiven(_ setting: Recipe.SettingName) -> Bool {
        setting == .key ? !key.isEmpty : self[setting].map { !$0.isEmpty } ?? false
    }

    /// Nil for the key, which is none, and one that isn't given.
    subscript(setting: Recipe.SettingName) -> Secret? {
        switch setting {
        case .key: nil
        case .secret: secret
        case .passphrase: passphrase
        case .token: token
        case .memo: memo
        }
    }

    /// Lends the bytes of a setting.
    func withBytes<Result>(
        _ setting: Recipe.SettingName, _ body: (Span<UInt8>) throws(SchemeError) -> Result
    ) throws(SchemeError) -> Result {
        guard setting != .key, let secret = self[setting] else {
            let key = key
            return try body(key.span)
        }
        return try secret.withUnsafeBytes { bytes throws(SchemeError) in try body(Span(_unsafeBytes: bytes)) }
    }
}
