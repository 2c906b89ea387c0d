import NevodSupport

/// A secret that `profile add` keeps for a setting.
struct KeptSecret {
    let setting: String
    var source: String
    let place: SecretPlace
    let value: Secret

    /// The value of the profile's `set`.
    var flagValue: String { "\(setting)=\(source)" }
}
