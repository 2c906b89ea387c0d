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
/// A task-local and not reflection, because a property then holds its value itself, a scheme is a plain `Sendable` struct, and no
/// reflection metadata are needed.
final class SettingsReader: @unchecked Sendable {  // Used within one synchronous call, on one thread.
    @TaskLocal static var current: SettingsReader?

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

    func values(of name: String) -> [UnsafeRawBufferPointer] {
        given.filter { $0.name.string == name }.map(\.value.buffer)
    }

    static func declarations(of scheme: (some AuthScheme).Type) -> [SettingDeclaration] {
        let reader = SettingsReader(given: UnsafeBufferPointer(start: nil, count: 0), host: nil)
        $current.withValue(reader) { _ = scheme.init() }
        return reader.declarations
    }

    static func make<Scheme: AuthScheme>(
        _ scheme: Scheme.Type, from given: UnsafeBufferPointer<nevod_pair>, of host: UnsafePointer<nevod_host>?
    ) throws(SchemeError) -> Scheme {
        var made = $current.withValue(SettingsReader(given: given, host: host)) { Scheme() }
        try made.prepare()
        return made
    }
}
