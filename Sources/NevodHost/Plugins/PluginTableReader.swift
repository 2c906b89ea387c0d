internal import NevodPluginABI
internal import NevodSupport

/// Checks a plugin's tables against the contract, once, so that later code can rely on them.
struct PluginTableReader {
    let path: String

    /// A larger count is treated as a mistake.
    private static let mostSchemes = UInt32(NEVOD_LIMIT_SCHEMES)
    private static let mostSettings = UInt32(NEVOD_LIMIT_SETTINGS)

    /// Copies the plugin's table, if this host serves its version.
    func plugin(_ pointer: UnsafePointer<nevod_plugin>) throws(PluginError) -> nevod_plugin {
        // All versions of the table agree up to abi_minor.
        let table = try copy(pointer, 16, "nevod_plugin")
        let draft = { (draft: UInt32) in draft == 0 ? "" : " draft \(draft)" }
        guard table.abi_major == NEVOD_ABI_MAJOR, table.abi_draft == NEVOD_ABI_DRAFT else {
            throw PluginError(
                path,
                .otherVersion(
                    offered: "version \(table.abi_major)\(draft(table.abi_draft))",
                    served: "version \(NEVOD_ABI_MAJOR)\(draft(NEVOD_ABI_DRAFT))"))
        }
        guard table.abi_minor <= NEVOD_ABI_MINOR else {
            throw PluginError(
                path,
                .needsNewerHost(
                    version: "version \(NEVOD_ABI_MAJOR).\(table.abi_minor)",
                    served: "version \(NEVOD_ABI_MAJOR).\(NEVOD_ABI_MINOR)"))
        }
        let whole = try copy(pointer, NEVOD_PLUGIN_MINIMUM, "nevod_plugin")
        try checkZero(whole.reserved, "nevod_plugin.reserved")
        return whole
    }

    /// Reads all schemes.
    ///
    /// - Returns: the schemes that this host can use; and the schemes that need a newer host, with the reason.
    func schemes(of plugin: nevod_plugin, named name: String) throws(PluginError) -> ([Scheme], refused: [RefusedScheme]) {
        guard plugin.scheme_count > 0, let tables = plugin.schemes else { throw malformed("nevod_plugin.schemes", "is empty") }
        guard plugin.scheme_count <= Self.mostSchemes else {
            throw malformed("nevod_plugin.scheme_count", "is \(plugin.scheme_count), more than \(Self.mostSchemes)")
        }
        var schemes: [Scheme] = []
        var refused: [RefusedScheme] = []
        for index in 0..<Int(plugin.scheme_count) {
            guard let pointer = tables[index] else { throw malformed("nevod_plugin.schemes[\(index)]", "is NULL") }
            let place = "schemes[\(index)]"
            let table = try copy(pointer, NEVOD_SCHEME_MINIMUM, "nevod_scheme \(place)")
            let id = try identifier(table.id, "\(place).id")
            guard !(schemes.map(\.id) + refused.map(\.id)).contains(id) else {
                throw malformed("nevod_plugin.schemes", "has the id \"\(id)\" twice")
            }
            do throws(PluginError) { schemes.append(try scheme(pointer, table, id, of: name)) } catch {
                guard case .unsupported = error.reason else { throw error }
                refused.append(RefusedScheme(id: id, reason: error))
            }
        }
        if let first = refused.first, schemes.isEmpty { throw first.reason }
        return (schemes, refused)
    }

    private func scheme(
        _ table: UnsafePointer<nevod_scheme>, _ scheme: nevod_scheme, _ id: String, of plugin: String
    ) throws(PluginError) -> Scheme {
        try checkFlags(
            scheme.flags, known: [NEVOD_SCHEME_BLOCKS, NEVOD_SCHEME_INTERACTIVE, NEVOD_SCHEME_NONDETERMINISTIC], id, "flags")
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
        try checkTogether(id, [("body_piece", scheme.body_piece != nil), ("body_free", scheme.body_free != nil)])
        return Scheme(
            plugin: path, pluginName: plugin, table: table, id: id, title: try text(scheme.title, "\(id).title"),
            settings: try settings(scheme.settings, scheme.setting_count, id, "settings"),
            parameters: try parameters(of: scheme, id))
    }

    private func parameters(of scheme: nevod_scheme, _ id: String) throws(PluginError) -> [SchemeSetting] {
        let parameters = try settings(scheme.parameters, scheme.parameter_count, id, "parameters")
        if let secret = parameters.first(where: \.isSecret) {
            throw malformed("\(id).parameters", "has \"\(secret.name)\", which is secret; only a setting can be secret")
        }
        if let relative = parameters.first(where: \.mayBeRelative) {
            throw malformed("\(id).parameters", "has \"\(relative.name)\", a relative URL; only a setting can be relative")
        }
        return parameters
    }

    private func checkTogether(_ id: String, _ functions: [(String, Bool)]) throws(PluginError) {
        guard functions.contains(where: \.1), let missing = functions.first(where: { !$0.1 }) else { return }
        throw PluginError(path, .nullFunction(scheme: id, function: missing.0))
    }

    private func settings(
        _ tables: UnsafePointer<UnsafePointer<nevod_setting>?>?, _ count: UInt32, _ id: String, _ field: String
    ) throws(PluginError) -> [SchemeSetting] {
        guard count > 0 else { return [] }
        guard count <= Self.mostSettings, let tables else {
            throw malformed("\(id).\(field)", "has \(count) entries, more than \(Self.mostSettings), or its table is NULL")
        }
        var settings: [SchemeSetting] = []
        for index in 0..<Int(count) {
            guard let pointer = tables[index] else { throw malformed("\(id).\(field)[\(index)]", "is NULL") }
            let table = try copy(pointer, NEVOD_SETTING_MINIMUM, "nevod_setting \(id).\(field)[\(index)]")
            let setting = try self.setting(table, id, "\(field)[\(index)]")
            guard !settings.contains(where: { $0.name == setting.name }) else {
                throw malformed("\(id).\(field)", "has the name \"\(setting.name)\" twice")
            }
            settings.append(setting)
        }
        return settings
    }

    private func setting(_ table: nevod_setting, _ id: String, _ field: String) throws(PluginError) -> SchemeSetting {
        let place = "\(id).\(field)"
        let name = try identifier(table.name, "\(place).name")
        guard let kind = SchemeSetting.Kind(rawValue: table.kind) else {
            throw PluginError(
                path, .unsupported(scheme: id, what: "the kind \(table.kind) of \(field), \"\(name)\""))
        }
        try checkFlags(
            table.flags,
            known: [
                NEVOD_SETTING_REQUIRED, NEVOD_SETTING_SECRET, NEVOD_SETTING_REPEATABLE, NEVOD_SETTING_ISSUER,
                NEVOD_SETTING_RELATIVE,
            ], id, "\(field).flags")
        var choices: [String] = []
        if table.choice_count > 0 {
            guard let texts = table.choices, table.choice_count <= Self.mostSettings else {
                throw malformed(
                    "\(place).choices", "has \(table.choice_count) entries, more than \(Self.mostSettings), or its table is NULL")
            }
            for index in 0..<Int(table.choice_count) { choices.append(try text(texts[index], "\(place).choices[\(index)]")) }
        }
        guard (kind == .choice) == !choices.isEmpty else {
            throw malformed("\(place).choices", kind == .choice ? "is empty" : "must be empty, since the setting isn't a choice")
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
        guard bytes.count <= UInt64(NEVOD_LIMIT_TEXT) else {
            throw malformed(field, "has \(bytes.count) bytes, more than \(NEVOD_LIMIT_TEXT)")
        }
        guard bytes.data != nil else { throw malformed(field, "has a length but no data") }
        guard let text = String(validating: bytes.buffer, as: UTF8.self) else { throw malformed(field, "is not UTF-8") }
        guard !text.utf8.contains(where: \.isControl) else {
            throw malformed(field, "contains a control character")
        }
        return text
    }

    private func identifier(_ bytes: nevod_bytes, _ field: String) throws(PluginError) -> String {
        let name = try text(bytes, field)
        guard name.utf8.count <= Int(NEVOD_LIMIT_NAME), name.utf8.isContractName else {
            throw malformed(
                field,
                "is \"\(name)\"; it must begin with a-z, contain only a-z, 0-9 and '-', and be at most \(NEVOD_LIMIT_NAME) bytes long"
            )
        }
        return name
    }

    private func copy<Table: ContractTable>(
        _ pointer: UnsafePointer<Table>, _ minimum: UInt32, _ structure: String
    ) throws(PluginError) -> Table {
        guard let table = Table(copying: pointer, minimum: minimum) else {
            throw PluginError(
                path, .tooShort(structure: structure, size: Int(Table.size(of: pointer)), needed: Int(minimum)))
        }
        return table
    }

    private func checkZero(_ reserved: UInt32, _ field: String) throws(PluginError) {
        guard reserved == 0 else { throw malformed(field, "is \(reserved), but must be zero") }
    }

    private func checkFlags(_ flags: UInt32, known: [Int], _ id: String, _ field: String) throws(PluginError) {
        if let what = ContractFlags.unsupported(flags, known: known) {
            throw PluginError(path, .unsupported(scheme: id, what: "\(what) of \(field)"))
        }
    }

    private func malformed(_ field: String, _ problem: String) -> PluginError {
        PluginError(path, .malformed(field: field, problem: problem))
    }
}
