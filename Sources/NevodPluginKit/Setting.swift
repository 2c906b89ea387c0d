/// Declares a setting of a scheme, and holds its value.
///
/// ```swift
/// @Setting("api-key", help: "Key id, sent in X-API-Key") var apiKey: String
/// @Setting("realm", default: "main", help: "Which realm to sign for") var realm: String
/// @Setting("nonce-length", help: "Bytes of nonce") var nonceLength: Int?
/// @Setting("secret", help: "Shared key of the signature") var secret: Secret
/// ```
///
/// A setting is required unless it has a default or an optional type. The host validates the user's values, so each is present and
/// well-formed when ``AuthScheme/prepare()`` runs. A `Secret` is never taken from a command line and never shown.
@propertyWrapper
public struct Setting<Value: SettingValue>: Sendable {
    /// The user's value, or the default. Valid from `prepare` on: while the host only reads declarations, it is a placeholder.
    public let wrappedValue: Value

    /// - Parameters:
    ///   - name: `a-z`, `0-9` and `-`, beginning with a letter.
    ///   - value: the default. Without it the setting is required, or nil if its type is optional.
    ///   - help: one line, without a full stop.
    public init(_ name: StaticString, default value: Value? = nil, help: StaticString) {
        // A scheme that a test creates by itself has its defaults.
        guard let reading = SettingsReader.current else {
            wrappedValue = value ?? Value.absent
            return
        }
        reading.declare(
            SettingDeclaration(
                name: name, help: help, kind: Value.kind,
                flags: Value.flags.subtracting(value == nil ? [] : .required),
                choices: Value.choices, defaultText: value?.text ?? ""))
        wrappedValue = Value(texts: reading.values(of: name)) ?? value ?? Value.absent
    }
}
