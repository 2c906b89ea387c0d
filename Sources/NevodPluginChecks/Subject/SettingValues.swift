internal import NevodPluginABI
internal import NevodPluginTesting
internal import NevodSupport

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

    /// The address of a server that doesn't exist; no check sends anything.
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
        // The values are the same in each check of a run.
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

    /// Decides whether to give a setting that has neither a value nor a default.
    typealias Choice = @Sendable (Declaration) -> Bool

    /// The choices to try, in order: required settings and URLs, required settings, all settings, required settings and secrets.
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

/// Texts that must stay secret, and a search for them in a plugin's output: as they are, and in the usual encodings.
struct Canaries {
    private var forms: [(name: String, form: String, bytes: [UInt8])] = []

    /// Shorter texts occur by chance.
    private static let shortest = 6

    /// - Parameter name: "the setting secret".
    mutating func add(_ name: String, _ value: [UInt8]) {
        guard value.count >= Self.shortest, !forms.contains(where: { $0.bytes == value }) else { return }
        let hex = Array(Hexadecimal.text(value).utf8)
        forms.append((name, "", value))
        forms.append((name, " in hexadecimal", hex))
        forms.append((name, " in hexadecimal", hex.map(\.uppercased)))
        let percent = PercentEncoding.queryItem(value)
        if percent != value { forms.append((name, " percent-encoded", percent)) }
        var escapes: [UInt8] = []
        for byte in value { PercentEncoding.append(byte, to: &escapes) }
        forms.append((name, " percent-encoded", escapes))
        // A secret within a longer encoded text begins at one of three offsets.
        for offset in 0..<3 {
            let text = Base64.encoded([UInt8](repeating: 0, count: offset) + value, padded: false).utf8
            let core = text.dropFirst(offset == 0 ? 0 : offset + 1).dropLast((offset + value.count) % 3 == 0 ? 0 : 2)
            forms.append((name, " in base64", Array(core)))
            forms.append((name, " in base64url", core.map { $0 == 0x2B ? 0x2D : $0 == 0x2F ? 0x5F : $0 }))
        }
    }

    /// Returns the name of a secret that the text contains, such as "the setting secret in base64".
    func found(in text: [UInt8]) -> String? {
        for form in forms where Self.contains(text, form.bytes) { return "\(form.name)\(form.form)" }
        return nil
    }

    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard let first = part.first, text.count >= part.count else { return false }
        return (0...text.count - part.count).contains { start in
            text[start] == first && text[start..<start + part.count].elementsEqual(part)
        }
    }
}
