internal import NevodPluginABI
internal import NevodSupport

/// The settings, or the parameters, that a scheme declares, as far as a test needs them.
struct DeclaredSettings {
    private struct Setting {
        let name: String
        let isRequired: Bool
        let isURL: Bool
        let mayBeRelative: Bool
        let defaultValue: [UInt8]
    }

    private let settings: [Setting]

    init(
        _ tables: UnsafePointer<UnsafePointer<nevod_setting>?>?, _ count: UInt32, _ reader: inout TableReader
    ) {
        var settings: [Setting] = []
        for pointer in reader.array(tables, count, "the settings") {
            guard let table = reader.table(pointer, nevod_setting(), NEVOD_SETTING_MINIMUM, "nevod_setting") else { continue }
            settings.append(
                Setting(
                    name: String(decoding: reader.bytes(table.name, "a setting's name"), as: UTF8.self),
                    isRequired: table.flags & UInt32(NEVOD_SETTING_REQUIRED) != 0,
                    isURL: table.kind == NEVOD_SETTING_URL, mayBeRelative: table.flags & UInt32(NEVOD_SETTING_RELATIVE) != 0,
                    defaultValue: reader.bytes(table.default_value, "a setting's default")))
        }
        self.settings = settings
    }

    /// Returns the given values and then the defaults of the others; relative URLs made absolute, as a host does.
    ///
    /// - Parameter what: "setting" or "parameter".
    func complete(_ given: [(String, String)], _ what: String) throws(TestFailure) -> [ContractPair] {
        for (name, _) in given where !settings.contains(where: { $0.name == name }) {
            let known = settings.map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw TestFailure("the scheme has no \(what) \"\(name)\"; it has \(known.isEmpty ? "none" : known)")
        }
        var values = given.map { ContractPair($0.0, $0.1) }
        for setting in settings where !given.contains(where: { $0.0 == setting.name }) {
            if !setting.defaultValue.isEmpty {
                values.append(ContractPair(setting.name, setting.defaultValue))
            } else if setting.isRequired {
                throw TestFailure("the \(what) \"\(setting.name)\" is required")
            }
        }
        let base = settings.first { $0.isURL && !$0.mayBeRelative }
        guard let base = values.first(where: { $0.name.elementsEqual((base?.name ?? "").utf8) })?.value else { return values }
        return values.map { pair in
            guard settings.contains(where: { $0.mayBeRelative && $0.name.utf8.elementsEqual(pair.name) }),
                let url = URLReference(String(decoding: pair.value, as: UTF8.self))
                    .resolved(toPathOf: String(decoding: base, as: UTF8.self))
            else { return pair }
            return ContractPair(pair.name, Array(url.utf8))
        }
    }

    /// The same in the order of the declarations.
    func inOrder(_ given: [(String, String)], _ what: String) throws(TestFailure) -> [ContractPair] {
        let all = try complete(given, what)
        return settings.flatMap { setting in all.filter { $0.name.elementsEqual(setting.name.utf8) } }
    }
}
