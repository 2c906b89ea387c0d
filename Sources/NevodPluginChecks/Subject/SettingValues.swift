internal import NevodPluginABI
internal import NevodPluginTesting

/// Plausible values for a scheme's settings and parameters.
struct SettingValues {
    struct Declaration {
        let name: [UInt8]
        let kind: Int32
        let flags: UInt32
        let defaultValue: [UInt8]
        let choices: [[UInt8]]

        var isRequired: Bool { flags & UInt32(NEVOD_SETTING_REQUIRED) != 0 }
        var isSecret: Bool { flags & UInt32(NEVOD_SETTING_SECRET) != 0 }
    }

    /// A server at which nothing listens; no check sends anything.
    static let server = "http://127.0.0.1:49152"

    let declarations: [Declaration]
    private let given: [GivenSetting]
    private let secrets: [[UInt8]]

    init(_ settings: UnsafePointer<UnsafePointer<nevod_setting>?>?, _ count: UInt32, given: [GivenSetting], seed: UInt64) {
        var declarations: [Declaration] = []
        if let settings, count <= UInt32(NEVOD_LIMIT_SETTINGS) {
            for index in 0..<Int(count) {
                guard let table = settings[index]?.pointee, table.struct_size >= NEVOD_SETTING_MINIMUM else { continue }
                let count = min(Int(table.choice_count), Int(NEVOD_LIMIT_SETTINGS))
                declarations.append(
                    Declaration(
                        name: Self.bytes(table.name), kind: table.kind, flags: table.flags,
                        defaultValue: Self.bytes(table.default_value),
                        choices: table.choices.map { choices in (0..<count).map { Self.bytes(choices[$0]) } } ?? []))
            }
        }
        self.declarations = declarations
        self.given = given
        // The same in each check of a run.
        var random = CheckRandom(seed: seed, check: "settings", scheme: nil)
        secrets = declarations.map { _ in Array("cnry".utf8) + Self.letters(20, &random) }
    }

    private static func bytes(_ bytes: nevod_bytes) -> [UInt8] {
        guard let data = bytes.data, bytes.count <= UInt64(NEVOD_LIMIT_TEXT) else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(bytes.count)))
    }

    static func letters(_ count: Int, _ random: inout CheckRandom) -> [UInt8] {
        let letters = Array("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789".utf8)
        return (0..<count).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
    }

    /// Whether a setting is given that has neither a value nor a default.
    typealias Choice = @Sendable (Declaration) -> Bool

    /// Sets to try in order: the required ones with addresses, the required ones, all.
    static let attempts: [Choice] = [
        { $0.isRequired || $0.kind == Int32(NEVOD_SETTING_URL) }, { $0.isRequired }, { _ in true },
        { $0.isRequired || $0.isSecret },
    ]

    func pairs(_ isIncluded: (Declaration) -> Bool) -> [ContractPair] {
        var pairs: [ContractPair] = []
        for (declaration, secret) in zip(declarations, secrets) {
            let values = given.filter { Array($0.name.utf8) == declaration.name }
            if !values.isEmpty {
                pairs += values.map { ContractPair(declaration.name, $0.value) }
            } else if !declaration.defaultValue.isEmpty {
                pairs.append(ContractPair(declaration.name, declaration.defaultValue))
            } else if isIncluded(declaration) {
                pairs.append(ContractPair(declaration.name, Self.value(declaration, secret)))
            }
        }
        return pairs
    }

    private static func value(_ declaration: Declaration, _ secret: [UInt8]) -> [UInt8] {
        switch declaration.kind {
        case Int32(NEVOD_SETTING_INTEGER): Array("1".utf8)
        case Int32(NEVOD_SETTING_BOOLEAN): Array("false".utf8)
        case Int32(NEVOD_SETTING_CHOICE): declaration.choices.first ?? []
        case Int32(NEVOD_SETTING_URL): Array("\(server)/".utf8)
        default: declaration.isSecret ? secret : Array("example".utf8)
        }
    }
}
