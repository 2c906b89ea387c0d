internal import CPluginRuntime
internal import NevodPluginABI

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
    @inline(never)
    public init(_ name: StaticString, default value: Value? = nil, help: StaticString) {
        // A test that creates a scheme directly gets the defaults.
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

struct SettingDeclaration {
    let name: StaticString
    let help: StaticString
    let kind: SettingKind
    let flags: SettingFlags
    let choices: [String]
    let defaultText: String
}

/// Collects a scheme's declarations while its properties initialise themselves, and gives them their values.
///
/// It is found through a thread-local variable rather than by reflection. So a property holds its own value, a scheme is a plain
/// `Sendable` struct, and no reflection metadata is needed.
final class SettingsReader {
    /// The reader of the scheme that this thread creates.
    static var current: SettingsReader? {
        nevod_settings_reader().map { Unmanaged<SettingsReader>.fromOpaque($0).takeUnretainedValue() }
    }

    private(set) var declarations: [SettingDeclaration] = []
    private let given: UnsafeBufferPointer<nevod_pair>
    /// Nil while only declarations are read.
    let host: UnsafePointer<nevod_host>?

    private init(given: UnsafeBufferPointer<nevod_pair>, host: UnsafePointer<nevod_host>?) {
        self.given = given
        self.host = host
    }

    func declare(_ declaration: SettingDeclaration) {
        declarations.append(declaration)
    }

    /// Compares bytes, because comparing strings would link Unicode's tables into a plugin.
    func values(of name: StaticString) -> [UnsafeRawBufferPointer] {
        let name = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return given.filter { $0.name.buffer.elementsEqual(name) }.map { $0.value.buffer }
    }

    /// Runs `body`, which creates a scheme on this thread.
    private func read<Result>(_ body: () -> Result) -> Result {
        let previous = nevod_settings_reader()
        nevod_set_settings_reader(Unmanaged.passUnretained(self).toOpaque())
        defer { nevod_set_settings_reader(previous) }
        return withExtendedLifetime(self) { body() }
    }

    static func declarations(of scheme: (some AuthScheme).Type) -> [SettingDeclaration] {
        let reader = SettingsReader(given: UnsafeBufferPointer(start: nil, count: 0), host: nil)
        reader.read { _ = scheme.init() }
        return reader.declarations
    }

    static func make<Scheme: AuthScheme>(
        _ scheme: Scheme.Type, from given: UnsafeBufferPointer<nevod_pair>, of host: UnsafePointer<nevod_host>?
    ) throws(SchemeError) -> Scheme {
        var made = SettingsReader(given: given, host: host).read { Scheme() }
        try made.prepare()
        return made
    }
}
