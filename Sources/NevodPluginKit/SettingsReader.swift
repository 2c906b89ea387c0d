internal import CPluginRuntime
internal import NevodPluginABI

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
/// A variable of the thread and not reflection, because a property then holds its value itself, a scheme is a plain `Sendable` struct,
/// and no reflection metadata are needed.
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

    /// Compares bytes and not strings, whose comparison brings Unicode's tables into a plugin.
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
