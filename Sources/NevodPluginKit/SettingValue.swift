public import NevodSupport

/// A type that a setting can have.
public protocol SettingValue: Sendable {
    /// The kind of value that the host checks for.
    static var kind: SettingKind { get }
    /// The flags of a setting of this type without a default.
    static var flags: SettingFlags { get }
    /// The values of a ``SettingKind/choice``; empty for the other kinds.
    static var choices: [String] { get }
    /// The placeholder while the host only reads declarations.
    static var absent: Self { get }
    /// Creates a value from the texts that the host validated; nil if there are none.
    init?(texts values: [UnsafeRawBufferPointer])
    /// The text that the host shows for a default.
    var text: String { get }
}

extension SettingValue {
    public static var flags: SettingFlags { .required }
    public static var choices: [String] { [] }
}

extension String: SettingValue {
    public static var kind: SettingKind { .text }
    public static var absent: String { "" }
    public var text: String { self }
    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let value = values.last else { return nil }
        self.init(decoding: value, as: UTF8.self)
    }
}

extension Int: SettingValue {
    public static var kind: SettingKind { .integer }
    public static var absent: Int { 0 }
    public var text: String { description }
    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        self.init(text)
    }
}

extension Bool: SettingValue {
    public static var kind: SettingKind { .boolean }
    public static var absent: Bool { false }
    public var text: String { description }
    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        guard let value = [false, true].first(where: { $0.description.utf8.elementsEqual(text.utf8) }) else { return nil }
        self = value
    }
}

extension Secret: SettingValue {
    public static var kind: SettingKind { .text }
    public static var flags: SettingFlags { [.required, .secret] }
    public static var absent: Self { Self(copying: UnsafeRawBufferPointer(start: nil, count: 0)) }
    public var text: String { "" }
    public convenience init?(texts values: [UnsafeRawBufferPointer]) {
        guard let value = values.last else { return nil }
        self.init(copying: value)
    }
}

/// An enum of strings is a choice.
extension SettingValue where Self: CaseIterable & RawRepresentable, RawValue == String {
    public static var kind: SettingKind { .choice }
    public static var choices: [String] { allCases.map { $0.rawValue } }
    public static var absent: Self { allCases[allCases.startIndex] }
    public var text: String { rawValue }
    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        self.init(text: text)
    }
}

extension Optional: SettingValue where Wrapped: SettingValue {
    public static var kind: SettingKind { Wrapped.kind }
    public static var flags: SettingFlags { Wrapped.flags.subtracting(.required) }
    public static var choices: [String] { Wrapped.choices }
    public static var absent: Wrapped? { nil }
    public var text: String { self?.text ?? "" }
    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let value = Wrapped(texts: values) else { return nil }
        self = value
    }
}

extension Array: SettingValue where Element: SettingValue {
    public static var kind: SettingKind { Element.kind }
    public static var flags: SettingFlags { Element.flags.subtracting(.required).union(.repeatable) }
    public static var choices: [String] { Element.choices }
    public static var absent: [Element] { [] }
    public var text: String { "" }
    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard !values.isEmpty else { return nil }
        self = values.compactMap { Element(texts: [$0]) }
    }
}

/// The form of a setting's value (`nevod_setting.kind`). The host checks it before a scheme gets it.
public enum SettingKind: Int32, Sendable {
    /// Any bytes without NUL.
    case text = 1
    /// A decimal number of 64 bits; `true` or `false`; one of ``SettingValue/choices``; an absolute `http` or `https` URL.
    case integer, boolean, choice, url
}

/// A setting's flags, as the contract's bits (`nevod_setting.flags`).
public struct SettingFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// No instance is created without a value. An empty text is a value.
    public static let required = SettingFlags(rawValue: 1 << 0)
    /// Never taken from a command line, never shown, wiped after use.
    public static let secret = SettingFlags(rawValue: 1 << 1)
    /// May be given several times; the values keep their order.
    public static let repeatable = SettingFlags(rawValue: 1 << 2)
    /// The URL names an issuer: ``IssuerURL``.
    public static let issuer = SettingFlags(rawValue: 1 << 3)
    /// The URL may be given relative to the scheme's first URL setting without this flag: ``RelativeURL``.
    public static let relative = SettingFlags(rawValue: 1 << 4)
}
