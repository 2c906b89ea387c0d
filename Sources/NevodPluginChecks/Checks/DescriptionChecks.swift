internal import NevodHost
internal import NevodPluginABI
internal import NevodSupport

// Reads the tables without the host's reader, so that each fault has its own check.

extension CheckCatalogue {
    static let descriptionChecks: [Check] = tableChecks + settingDescriptionChecks + [extensionCheck]

    private static let tableChecks: [Check] = [
        Check("description.table", "nevod_plugin_v1 returns a table of this contract", scope: .plugin) { context in
            let fix = "Compile with the nevod_plugin.h of the host, and set struct_size to sizeof(nevod_plugin)."
            let expected = "A nevod_plugin of at least \(NEVOD_PLUGIN_MINIMUM) bytes, version \(NEVOD_ABI_MAJOR)."
            let library: LoadedLibrary
            do { library = try context.library() } catch CheckStop.skip(let reason) where reason.hasSuffix("returned NULL") {
                return .fail(
                    Finding(expected: expected, happened: "It returned NULL.", fix: "Return the address of a static table."))
            }
            let size = UnsafeRawPointer(library.table).load(as: UInt32.self)
            guard size >= 16 else { return .fail(Finding(expected: expected, happened: "struct_size is \(size).", fix: fix)) }
            guard library.table.pointee.abi_major == NEVOD_ABI_MAJOR else {
                return .fail(Finding(expected: expected, happened: "abi_major is \(library.table.pointee.abi_major).", fix: fix))
            }
            guard size >= NEVOD_PLUGIN_MINIMUM || library.table.pointee.abi_draft != NEVOD_ABI_DRAFT else {
                return .fail(Finding(expected: expected, happened: "struct_size is \(size).", fix: fix))
            }
            // A wild pointer or count crashes the process here, not in each check below.
            let bytes = context.during(.tables) { library.schemes.reduce(0) { $0 + textSize(of: $1) } }
            return .noted("\(library.schemes.count) schemes, \(bytes) bytes of text")
        },
        Check("description.draft", "The plugin is built for the draft of the contract that the host serves", scope: .plugin) {
            context in
            let table = try context.library().table.pointee
            let expected = "abi_draft is \(NEVOD_ABI_DRAFT), and abi_minor at most \(NEVOD_ABI_MINOR)."
            guard table.abi_draft == NEVOD_ABI_DRAFT, table.abi_minor <= NEVOD_ABI_MINOR else {
                return .fail(
                    Finding(
                        expected: expected, happened: "abi_draft is \(table.abi_draft), and abi_minor \(table.abi_minor).",
                        fix: "Rebuild it with the header of this host, and set abi_minor to what the plugin needs: 0."))
            }
            return .pass
        },
        tables("description.reserved", "Reserved fields are zero") { plugin in
            plugin.table.reserved == 0 ? [] : ["nevod_plugin.reserved is \(plugin.table.reserved)."]
        } fix: {
            "Initialize the structs by the names of their fields; C sets the rest to zero."
        },
        tables("description.name", "The plugin has a name and a version") { plugin in
            textProblems(plugin.table.name, "name") + textProblems(plugin.table.version, "version")
                + textProblems(plugin.table.vendor, "vendor", mayBeEmpty: true)
        } fix: {
            "Set name, version and vendor to UTF-8 of at most \(NEVOD_LIMIT_TEXT) bytes, without control characters."
        },
        tables("description.version", "The version is of the form 1.2.3", isWarning: true) { plugin in
            guard let version = plugin.table.version.text, !version.isEmpty else { return [] }
            let isNumbered = version.utf8.first?.isDigit == true
            return isNumbered && version.contains(".") ? [] : ["The version is \"\(version)\"."]
        } fix: {
            "Number the versions, so that a person can tell which of two is newer."
        },
        tables("description.vendor", "The plugin names its vendor", isWarning: true) { plugin in
            plugin.table.vendor.count == 0 ? ["vendor is empty."] : []
        } fix: {
            "Set vendor: users see it in inspect."
        },
        tables("description.schemes", "The plugin has schemes, each with a complete table") { plugin in
            guard plugin.table.scheme_count > 0, let schemes = plugin.table.schemes else { return ["It has no schemes."] }
            guard plugin.table.scheme_count <= UInt32(NEVOD_LIMIT_SCHEMES) else {
                return ["scheme_count is \(plugin.table.scheme_count)."]
            }
            return (0..<Int(plugin.table.scheme_count)).compactMap { index in
                guard let scheme = schemes[index] else { return "schemes[\(index)] is NULL." }
                let size = UnsafeRawPointer(scheme).load(as: UInt32.self)
                return size >= NEVOD_SCHEME_MINIMUM
                    ? nil : "schemes[\(index)] has the struct_size \(size), less than \(NEVOD_SCHEME_MINIMUM)."
            }
        } fix: {
            "List 1 to \(NEVOD_LIMIT_SCHEMES) schemes, and set struct_size to sizeof(nevod_scheme)."
        },
        tables("description.scheme-ids", "The ids of schemes are well-formed and distinct") { plugin in
            let ids = plugin.schemes.map { $0.pointee.id.text ?? "(not UTF-8)" }
            return ids.filter { !isIdentifier($0) }.map { "\"\($0)\" is not a valid id." }
                + repeated(ids).map { "\"\($0)\" occurs twice." }
        } fix: {
            "Use a-z, 0-9 and '-', beginning with a letter, at most \(NEVOD_LIMIT_NAME) bytes."
        },
        tables("description.titles", "Each scheme has a title") { plugin in
            plugin.schemes.flatMap { textProblems($0.pointee.title, "the title of \(label($0))") }
        } fix: {
            "Set title to what users call the scheme: \"HMAC request signature\"."
        },
        tables("description.flags", "No flag of a scheme is unknown to this host") { plugin in
            let known = UInt32(NEVOD_SCHEME_BLOCKS) | UInt32(NEVOD_SCHEME_INTERACTIVE) | UInt32(NEVOD_SCHEME_NONDETERMINISTIC)
            return plugin.schemes.compactMap { scheme in
                let unknown = scheme.pointee.flags & ~known
                return unknown == 0 ? nil : "\(label(scheme)) has the flags 0x\(String(unknown, radix: 16))."
            }
        } fix: {
            "Set only the header's NEVOD_SCHEME_… flags; bit 31 is never assigned."
        },
        tables("description.functions", "Each scheme has the functions that belong together") { plugin in
            plugin.schemes.flatMap { scheme in
                let table = scheme.pointee
                var problems: [String] = []
                for (name, isThere) in [
                    ("create", table.create != nil), ("destroy", table.destroy != nil), ("authorize", table.authorize != nil),
                ]
                where !isThere { problems.append("\(label(scheme)) lacks \(name).") }
                let groups: [[(String, Bool)]] = [
                    [("token_decode", table.token_decode != nil), ("token_free", table.token_free != nil)],
                    [
                        ("flow_begin", table.flow_begin != nil), ("flow_step", table.flow_step != nil),
                        ("flow_free", table.flow_free != nil),
                    ],
                    [("body_piece", table.body_piece != nil), ("body_free", table.body_free != nil)],
                ]
                for group in groups where group.contains(where: \.1) {
                    problems += group.filter { !$0.1 }.map {
                        "\(label(scheme)) lacks \($0.0), which belongs to \(group.first { $0.1 }?.0 ?? "")."
                    }
                }
                return problems
            }
        } fix: {
            "Set create, destroy and authorize; token_decode with token_free, the three flow functions together, body_piece with body_free."
        },
        tables("description.interactive", "A scheme that asks a person has a flow to do so", isWarning: true) { plugin in
            plugin.schemes.filter { $0.pointee.flags & UInt32(NEVOD_SCHEME_INTERACTIVE) != 0 && $0.pointee.flow_begin == nil }
                .map { "\(label($0)) has NEVOD_SCHEME_INTERACTIVE, but no flow." }
        } fix: {
            "Remove the flag."
        },
    ]

    private static let extensionCheck = Check(
        "description.extensions", "get_extension returns NULL for an unknown name", scope: .plugin
    ) { context in
        let library = try context.library()
        let schemes = library.schemes
        guard !schemes.isEmpty else { throw notReadable }
        guard let getExtension = library.table.pointee.get_extension else { return .pass }
        for scheme in schemes {
            let found = "nevod.no-such-extension/1".utf8.withContiguousStorageIfAvailable { name in
                context.during(.getExtension) {
                    getExtension(scheme, nevod_bytes(data: name.baseAddress, count: UInt64(name.count)))
                }
            }
            guard let found, found != nil else { continue }
            return .fail(
                Finding(
                    expected: "NULL for a name that the plugin doesn't know.",
                    happened: "It returned a pointer for nevod.no-such-extension/1.",
                    fix: "Compare the whole name, and return NULL by default."))
        }
        return .pass
    }

    /// The host's own judgement, which is decisive. Runs nothing, because the plugin's description already has the result.
    static let accepted = Check("description.accepted", "The host uses the plugin", scope: .plugin) { _ in .pass }

    static func acceptance(refusal: String, isExplained: Bool) -> Outcome {
        if refusal.isEmpty { return Outcome(accepted, nil, .passed) }
        if isExplained { return Outcome(accepted, nil, .skipped, note: "the failures explain it: \(refusal)") }
        return Outcome(
            accepted, nil, .failed,
            finding: Finding(
                expected: "The host loads the plugin.", happened: refusal, fix: "See \"nevod-host inspect\" for the plugin."))
    }

    // MARK: Kinds of checks

    struct Tables {
        let table: nevod_plugin
        let schemes: [UnsafePointer<nevod_scheme>]
    }

    private static let notReadable = CheckStop.skip("description.table, .draft or .schemes explains it")

    static func tables(
        _ id: String, _ title: String, isWarning: Bool = false, _ problems: @escaping @Sendable (Tables) -> [String],
        fix: @escaping @Sendable () -> String
    ) -> Check {
        Check(id, title, scope: .plugin) { context in
            let library = try context.library()
            let size = UnsafeRawPointer(library.table).load(as: UInt32.self)
            guard size >= NEVOD_PLUGIN_MINIMUM, library.table.pointee.abi_major == NEVOD_ABI_MAJOR,
                library.table.pointee.abi_draft == NEVOD_ABI_DRAFT
            else { throw notReadable }
            let found = problems(Tables(table: library.table.pointee, schemes: library.schemes))
            guard let first = found.first else { return .pass }
            let more = found.count > 1 ? " (And \(found.count - 1) more.)" : ""
            let finding = Finding(expected: "\(title).", happened: first + more, fix: fix())
            return isWarning ? .warn(finding) : .fail(finding)
        }
    }

    // MARK: Pieces

    static func label(_ scheme: UnsafePointer<nevod_scheme>) -> String {
        "the scheme \"\(scheme.pointee.id.text ?? "?")\""
    }

    /// The settings whose tables can be read; `description.settings` reports the others.
    static func readable(_ tables: UnsafePointer<UnsafePointer<nevod_setting>?>?, _ count: UInt32) -> [nevod_setting] {
        guard let tables, count <= UInt32(NEVOD_LIMIT_SETTINGS) else { return [] }
        return (0..<Int(count)).compactMap { tables[$0] }.filter {
            UnsafeRawPointer($0).load(as: UInt32.self) >= NEVOD_SETTING_MINIMUM
        }
        .map(\.pointee)
    }

    private static func textSize(of scheme: UnsafePointer<nevod_scheme>) -> Int {
        let settings =
            readable(scheme.pointee.settings, scheme.pointee.setting_count)
            + readable(scheme.pointee.parameters, scheme.pointee.parameter_count)
        let texts =
            [scheme.pointee.id, scheme.pointee.title]
            + settings.flatMap { [$0.name, $0.default_value, $0.help] + choices(of: $0) }
        return texts.reduce(0) { $0 + ($1.text?.utf8.count ?? 0) }
    }

    private static func choices(of setting: nevod_setting) -> [nevod_bytes] {
        guard setting.choice_count <= UInt32(NEVOD_LIMIT_SETTINGS), let choices = setting.choices else { return [] }
        return (0..<Int(setting.choice_count)).map { choices[$0] }
    }

    static func textProblems(_ bytes: nevod_bytes, _ what: String, mayBeEmpty: Bool = false) -> [String] {
        if bytes.count == 0 { return mayBeEmpty ? [] : ["\(what) is empty."] }
        if bytes.count > UInt64(NEVOD_LIMIT_TEXT) { return ["\(what) has \(bytes.count) bytes."] }
        guard bytes.data != nil else { return ["\(what) has a length but no data."] }
        guard let text = bytes.text else { return ["\(what) is not UTF-8."] }
        return text.utf8.contains(where: \.isControl) ? ["\(what) contains a control character."] : []
    }

    static func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= Int(NEVOD_LIMIT_NAME) && text.utf8.isContractName
    }

    static func repeated(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { !seen.insert($0).inserted }
    }
}
