internal import NevodPluginKit
internal import NevodSupport

/// The setting `key`: at least one key, in order.
struct Keys: SettingValue {
    let keys: [Secret]

    static let kind = SettingKind.text
    static let flags: SettingFlags = [.required, .secret, .repeatable]
    static let absent = Keys(keys: [])
    var text: String { "" }

    private init(keys: [Secret]) {
        self.keys = keys
    }

    init?(texts values: [UnsafeRawBufferPointer]) {
        guard !values.isEmpty else { return nil }
        keys = values.map { Secret(copying: $0) }
    }
}

/// A setting with the names of the keys, in the keys' order.
struct KeyNames: SettingValue, ExpressibleByStringLiteral {
    let names: [String]

    static let kind = SettingKind.text
    static let flags: SettingFlags = [.required, .repeatable]
    static let absent = KeyNames(names: [])
    /// The default.
    var text: String { names.first ?? "" }

    private init(names: [String]) {
        self.names = names
    }

    init(stringLiteral name: StaticString) {
        names = [name.description]
    }

    init?(texts values: [UnsafeRawBufferPointer]) {
        guard !values.isEmpty else { return nil }
        names = values.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// The keys of an instance with their names, checked so that the host won't refuse any of them later.
struct NamedKeys: Sendable {
    /// The part of a request that a key is written to.
    enum Place {
        case header, query, cookie
    }

    private(set) var keys: [(name: [UInt8], key: Secret)] = []

    init() {}

    /// - Parameters:
    ///   - setting: the setting that has the names.
    ///   - place: the part of the request that gets the keys.
    /// - Throws: `SchemeError.badSetting`, which names the setting and doesn't show a key.
    init(_ names: KeyNames, _ setting: String, _ keys: Keys, in place: Place) throws(SchemeError) {
        guard names.names.count == keys.keys.count else {
            throw .badSetting(
                setting,
                "must be given once for each key, in the keys' order: names \(names.names.count), keys \(keys.keys.count)")
        }
        for (index, name) in names.names.enumerated() {
            let key = keys.keys[index]
            // Tells the user which name to correct.
            let number = names.names.count > 1 ? " (number \(index + 1))" : ""
            if let problem = place.problem(ofName: name) { throw .badSetting(setting, problem + number) }
            if self.keys.contains(where: { place.areSame($0.name, name) }) {
                throw .badSetting(setting, "must not have the same name twice" + number)
            }
            if let problem = place.problem(of: key) { throw .badSetting("key", problem + number) }
            self.keys.append((Array(name.utf8), key))
        }
    }
}

extension NamedKeys.Place {
    /// The host's limits on the bytes of a name and of a value.
    private static let mostOfName = 256
    static let mostOfValue = 65_536

    fileprivate func problem(ofName name: String) -> String? {
        if name.isEmpty { return "must not be empty" }
        if name.utf8.count > Self.mostOfName { return "must not have more than \(Self.mostOfName) bytes" }
        switch self {
        case .header:
            if !name.utf8.allSatisfy({ $0.isTokenByte }) {
                return "must be a header's name: letters, digits and hyphens, such as X-API-Key, without a colon"
            }
            return TransportHeader.has(name.utf8) ? "must be another header: this one is the host's own" : nil
        case .cookie:
            return name.utf8.allSatisfy { $0.isCookieByte && $0 > 0x20 && $0 != UInt8(ascii: "=") }
                ? nil : "must be a cookie's name, without a space, an equals sign or a semicolon"
        case .query: return nil
        }
    }

    fileprivate func problem(of key: Secret) -> String? {
        if key.isEmpty { return "must not be empty" }
        return key.withUnsafeBytes { bytes in
            if bytes.count > Self.mostOfValue { return "must not have more than \(Self.mostOfValue) bytes" }
            if self == .query { return nil }
            if !bytes.allSatisfy({ $0.isFieldByte }) { return "must not contain a control character, such as a line break" }
            if bytes.first?.isBlank == true || bytes.last?.isBlank == true { return "must not begin or end with a space" }
            if self == .cookie, !bytes.allSatisfy({ $0.isCookieByte }) {
                return "must not contain a semicolon or a tab, for a cookie"
            }
            return nil
        }
    }

    /// Whether a server treats two names as the same.
    fileprivate func areSame(_ name: [UInt8], _ other: String) -> Bool {
        self == .header
            ? name.lazy.map { $0.lowercased }.elementsEqual(other.utf8.lazy.map { $0.lowercased })
            : name.elementsEqual(other.utf8)
    }
}
