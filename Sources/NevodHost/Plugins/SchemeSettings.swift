internal import NevodPluginABI
public import NevodSupport

/// Values for a scheme's settings, in order; a repeatable setting may stand several times.
///
/// ```swift
/// let settings: SchemeSettings = ["api-key": "demo", "secret": .secret(Secret(copying: bytes))]
/// ```
public struct SchemeSettings: Sendable, ExpressibleByDictionaryLiteral {
    /// A string literal is a text.
    public enum Value: Sendable, ExpressibleByStringLiteral {
        /// A secret setting takes it too, but nobody wipes the string.
        case text(String)
        /// Wiped with its last reference, as is the block that carries it to the scheme.
        case secret(Secret)

        public init(stringLiteral value: String) {
            self = .text(value)
        }
    }

    package private(set) var values: [(name: String, value: Value)] = []

    /// No values: every setting keeps its default.
    public init() {}

    public init(dictionaryLiteral elements: (String, Value)...) {
        values = elements.map { ($0.0, $0.1) }
    }

    /// Appends a value. The name is checked when an instance is made, by ``Scheme/makeInstance(settings:target:clock:log:)``.
    public mutating func add(_ name: String, _ value: Value) {
        values.append((name, value))
    }

    /// Whether a value was given under that name, the default apart.
    public func contains(_ name: String) -> Bool {
        values.contains { $0.name == name }
    }
}

extension SchemeSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Names alone: what is no secret for the scheme may be one for its user.
    public var description: String { "[\(values.map(\.name).joined(separator: ", "))]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["names": values.map(\.name)]) }
}

extension Scheme {
    /// Fails for a name that the scheme has no setting of.
    package func checkNames(of given: SchemeSettings) throws(PluginError) {
        let names = settings.map(\.name)
        for (name, _) in given.values where !names.contains(name) {
            throw PluginError(plugin, .unknownSetting(scheme: id, name: name, valid: names))
        }
    }

    /// Every value that `create` gets: what was given, checked, then the defaults.
    func validated(_ given: SchemeSettings) throws(PluginError) -> [(name: String, value: SchemeSettings.Value)] {
        try checkNames(of: given)
        let names = settings.map(\.name)
        for (name, value) in given.values {
            guard let setting = settings.first(where: { $0.name == name }) else { continue }
            let problem =
                switch value {
                case .text(let text): setting.problem(with: text)
                case .secret(let secret): secret.withUnsafeBytes { Self.problem(with: $0, setting) }
                }
            if let problem { throw PluginError(plugin, .badSetting(scheme: id, name: name, problem: problem)) }
            guard setting.isRepeatable || given.values.count(where: { $0.name == name }) == 1 else {
                throw PluginError(plugin, .badSetting(scheme: id, name: name, problem: "was given more than once"))
            }
        }
        var values = given.values
        for setting in settings where !given.contains(setting.name) {
            if let value = setting.defaultValue {
                values.append((setting.name, .text(value)))
            } else if setting.isRequired {
                throw PluginError(plugin, .missingSetting(scheme: id, name: setting.name, help: setting.help, valid: names))
            }
        }
        return values
    }

    private static func problem(with secret: UnsafeRawBufferPointer, _ setting: SchemeSetting) -> String? {
        // A text is the usual kind of a secret, and may be any bytes without NUL; only for the others is it made a string.
        guard setting.kind != .text else { return secret.contains(0) ? "holds a NUL byte" : nil }
        return setting.problem(with: String(decoding: secret, as: UTF8.self))
    }
}
