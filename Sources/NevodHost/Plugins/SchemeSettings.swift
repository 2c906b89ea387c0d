internal import NevodPluginABI
public import NevodSupport

/// Values for a scheme's settings, in order; a repeatable setting may occur several times.
///
/// ```swift
/// let settings: SchemeSettings = ["api-key": "demo", "secret": .secret(Secret(copying: bytes))]
/// ```
public struct SchemeSettings: Sendable, ExpressibleByDictionaryLiteral {
    /// The value of one setting; a string literal makes a `text`.
    public enum Value: Sendable, ExpressibleByStringLiteral {
        /// A string. Secret settings accept it too, but the string's memory is not wiped.
        case text(String)
        /// A secret. It is wiped when its last reference is released, and so is the copy that is passed to the scheme.
        case secret(Secret)

        public init(stringLiteral value: String) {
            self = .text(value)
        }
    }

    package private(set) var values: [(name: String, value: Value)] = []

    /// Makes settings without values: every setting has its default.
    public init() {}

    public init(dictionaryLiteral elements: (String, Value)...) {
        values = elements.map { ($0.0, $0.1) }
    }

    /// Appends a value. The name is checked when an instance is made, by
    /// ``Scheme/makeInstance(settings:target:clock:workers:log:)``.
    public mutating func add(_ name: String, _ value: Value) {
        values.append((name, value))
    }

    /// Whether a value was given for the setting of that name; defaults don't count.
    public func contains(_ name: String) -> Bool {
        values.contains { $0.name == name }
    }
}

extension SchemeSettings {
    /// Returns a digest of the values that are not secret, independent of the order of their names: 64 bits of FNV-1a as 16
    /// hexadecimal digits. It only tells a user's own settings apart, and doesn't protect them.
    ///
    /// - Parameter declared: the scheme's settings. The value of a secret setting is secret even if it was given as a text.
    func digest(_ declared: [SchemeSetting]) -> String {
        let secret = Set(declared.filter(\.isSecret).map(\.name))
        var texts: [(name: String, value: String)] = []
        for (name, value) in values where !secret.contains(name) {
            if case .text(let text) = value { texts.append((name, text)) }
        }
        // Values of one name keep their order, which may matter.
        let sorted = texts.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
        var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        for (name, value) in sorted {
            for byte in Array(name.utf8) + [0] + Array(value.utf8) + [0] { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        return digest.padded(to: 16, radix: 16)
    }
}

extension SchemeSettings: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Only the names: a value that isn't a secret to the scheme may be one to its user.
    public var description: String { "[\(values.map(\.name).joined(separator: ", "))]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["names": values.map(\.name)]) }
}

extension SchemeSettings.Value {
    /// The value as text. For a secret this is a copy that isn't wiped.
    var text: String {
        switch self {
        case .text(let text): text
        case .secret(let secret): secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        }
    }

    fileprivate func replacing(with text: String) -> Self {
        switch self {
        case .text: .text(text)
        case .secret: .secret(Secret(text))
        }
    }
}

extension Scheme {
    /// Throws if the scheme has no setting of one of the names.
    package func checkNames(of given: SchemeSettings) throws(PluginError) {
        let names = settings.map(\.name)
        for (name, _) in given.values where !names.contains(name) {
            throw PluginError(plugin, .unknownSetting(scheme: id, name: name, valid: names))
        }
    }

    /// Returns the values to pass to `create`: the given ones, after checking them, then the defaults.
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
        try resolve(&values)
        return values
    }

    /// Makes relative URLs absolute.
    private func resolve(_ values: inout [(name: String, value: SchemeSettings.Value)]) throws(PluginError) {
        let relative = Set(settings.filter(\.mayBeRelative).map(\.name))
        guard !relative.isEmpty else { return }
        let baseName = settings.first { $0.kind == .url && !$0.mayBeRelative }?.name
        let base = values.first { $0.name == baseName }?.value.text
        for index in values.indices where relative.contains(values[index].name) {
            let text = values[index].value.text
            guard (try? HTTPURL(text)) == nil else { continue }
            guard let base, let url = URLReference(text).resolved(toPathOf: base) else {
                let name = values[index].name
                let way = baseName.map { "set \"\($0)\", to which it is relative, or give the whole URL" } ?? "give the whole URL"
                throw PluginError(plugin, .badSetting(scheme: id, name: name, problem: "is not an absolute URL: \(way)"))
            }
            values[index].value = values[index].value.replacing(with: url)
        }
    }

    private static func problem(with secret: UnsafeRawBufferPointer, _ setting: SchemeSetting) -> String? {
        // A text is checked without making a string, because that copy of the secret would not be wiped.
        guard setting.kind != .text else { return secret.contains(0) ? "contains a NUL byte" : nil }
        return setting.problem(with: String(decoding: secret, as: UTF8.self))
    }
}
