internal import NevodPluginABI

/// Checks a plugin's tables against the contract, once, so that later code can rely on them.
struct PluginTableReader {
    let path: String

    /// Larger counts are taken for a mistake.
    private static let mostSchemes = 64
    private static let mostSettings = 256

    func checkVersion(_ table: UnsafePointer<nevod_plugin>) throws(PluginError) {
        // All versions of the table agree up to abi_draft.
        try checkSize(table.pointee.struct_size, needed: 16, "nevod_plugin")
        guard table.pointee.abi_major == NEVOD_ABI_MAJOR, table.pointee.abi_draft == NEVOD_ABI_DRAFT else {
            throw PluginError(
                path,
                .otherVersion(
                    offered: "version \(table.pointee.abi_major) draft \(table.pointee.abi_draft)",
                    served: "version \(NEVOD_ABI_MAJOR) draft \(NEVOD_ABI_DRAFT)"))
        }
        try checkSize(table.pointee.struct_size, needed: MemoryLayout<nevod_plugin>.size, "nevod_plugin")
    }

    func schemes(of table: UnsafePointer<nevod_plugin>, named name: String) throws(PluginError) -> [Scheme] {
        let count = Int(table.pointee.scheme_count)
        guard count > 0, let tables = table.pointee.schemes else { throw malformed("nevod_plugin.schemes", "is empty") }
        guard count <= Self.mostSchemes else {
            throw malformed("nevod_plugin.scheme_count", "is \(count), more than \(Self.mostSchemes)")
        }
        var schemes: [Scheme] = []
        for index in 0..<count {
            guard let table = tables[index] else { throw malformed("nevod_plugin.schemes[\(index)]", "is NULL") }
            let scheme = try self.scheme(table, "schemes[\(index)]", of: name)
            guard !schemes.contains(where: { $0.id == scheme.id }) else {
                throw malformed("nevod_plugin.schemes", "has the id \"\(scheme.id)\" twice")
            }
            schemes.append(scheme)
        }
        return schemes
    }

    private func scheme(
        _ table: UnsafePointer<nevod_scheme>, _ place: String, of plugin: String
    ) throws(PluginError) -> Scheme {
        try checkSize(table.pointee.struct_size, needed: MemoryLayout<nevod_scheme>.size, "nevod_scheme \(place)")
        let scheme = table.pointee
        let id = try identifier(scheme.id, "\(place).id")
        for (function, isThere) in [
            ("create", scheme.create != nil), ("destroy", scheme.destroy != nil), ("authorize", scheme.authorize != nil),
        ] where !isThere {
            throw PluginError(path, .nullFunction(scheme: id, function: function))
        }
        try checkTogether(
            id, [("token_decode", scheme.token_decode != nil), ("token_free", scheme.token_free != nil)])
        try checkTogether(
            id,
            [
                ("flow_begin", scheme.flow_begin != nil), ("flow_step", scheme.flow_step != nil),
                ("flow_free", scheme.flow_free != nil),
            ])
        return Scheme(
            plugin: path, pluginName: plugin, table: table, id: id, title: try text(scheme.title, "\(id).title"),
            settings: try settings(of: scheme, id))
    }

    private func checkTogether(_ id: String, _ functions: [(String, Bool)]) throws(PluginError) {
        guard functions.contains(where: \.1), let missing = functions.first(where: { !$0.1 }) else { return }
        throw PluginError(path, .nullFunction(scheme: id, function: missing.0))
    }

    private func settings(of scheme: nevod_scheme, _ id: String) throws(PluginError) -> [SchemeSetting] {
        let count = Int(scheme.setting_count)
        guard count > 0 else { return [] }
        guard count <= Self.mostSettings, let tables = scheme.settings else {
            throw malformed("\(id).settings", "has \(count) entries and \(scheme.settings == nil ? "no" : "a") table")
        }
        var settings: [SchemeSetting] = []
        for index in 0..<count {
            guard let table = tables[index] else { throw malformed("\(id).settings[\(index)]", "is NULL") }
            try checkSize(table.pointee.struct_size, needed: MemoryLayout<nevod_setting>.size, "nevod_setting \(id)[\(index)]")
            let setting = try self.setting(table.pointee, "\(id).settings[\(index)]")
            guard !settings.contains(where: { $0.name == setting.name }) else {
                throw malformed("\(id).settings", "has the name \"\(setting.name)\" twice")
            }
            settings.append(setting)
        }
        return settings
    }

    private func setting(_ table: nevod_setting, _ place: String) throws(PluginError) -> SchemeSetting {
        let name = try identifier(table.name, "\(place).name")
        guard let kind = SchemeSetting.Kind(rawValue: table.kind) else {
            throw malformed("\(place).kind", "is \(table.kind), a kind that the contract doesn't know")
        }
        var choices: [String] = []
        if table.choice_count > 0 {
            guard let texts = table.choices, table.choice_count <= Self.mostSettings else {
                throw malformed("\(place).choices", "has no table")
            }
            for index in 0..<Int(table.choice_count) { choices.append(try text(texts[index], "\(place).choices[\(index)]")) }
        }
        guard (kind == .choice) == !choices.isEmpty else {
            throw malformed("\(place).choices", kind == .choice ? "is empty" : "must be empty for a setting that is not a choice")
        }
        let setting = SchemeSetting(
            name: name, kind: kind, flags: table.flags, choices: choices,
            defaultValue: try text(table.default_value, "\(place).default_value", mayBeEmpty: true),
            help: try text(table.help, "\(place).help", mayBeEmpty: true))
        if setting.isSecret, setting.defaultValue != nil {
            throw malformed("\(place).default_value", "must be empty for a secret")
        }
        if let value = setting.defaultValue, let problem = setting.problem(with: value) {
            throw malformed("\(place).default_value", problem)
        }
        return setting
    }

    // MARK: Pieces

    func text(_ bytes: nevod_bytes, _ field: String, mayBeEmpty: Bool = false) throws(PluginError) -> String {
        guard bytes.count > 0 else {
            if mayBeEmpty { return "" }
            throw malformed(field, "is empty")
        }
        guard bytes.count <= 4096 else { throw malformed(field, "has \(bytes.count) bytes, more than 4096") }
        guard bytes.data != nil else { throw malformed(field, "has a length but no data") }
        guard let text = String(validating: bytes.buffer, as: UTF8.self) else { throw malformed(field, "is not UTF-8") }
        guard !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw malformed(field, "contains a control character")
        }
        return text
    }

    private func identifier(_ bytes: nevod_bytes, _ field: String) throws(PluginError) -> String {
        let name = try text(bytes, field)
        guard name.utf8.count <= 64, name.utf8.first.map(isLetter) == true,
            name.utf8.allSatisfy({
                isLetter($0) || ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || $0 == UInt8(ascii: "-")
            })
        else {
            throw malformed(
                field, "is \"\(name)\"; it must begin with a-z, contain only a-z, 0-9 and '-', and have at most 64 bytes")
        }
        return name
    }

    private func isLetter(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z")
    }

    private func checkSize(_ size: UInt32, needed: Int, _ structure: String) throws(PluginError) {
        guard size >= needed else {
            throw PluginError(path, .tooShort(structure: structure, size: Int(size), needed: needed))
        }
    }

    private func malformed(_ field: String, _ problem: String) -> PluginError {
        PluginError(path, .malformed(field: field, problem: problem))
    }
}
