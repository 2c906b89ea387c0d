internal import NevodPluginABI
internal import NevodPluginTesting
internal import NevodSupport

extension CheckCatalogue {
    /// If these fail, the other checks say nothing about a scheme.
    static let basicChecks: [Check] = [
        Check("lifecycle.create", "An instance can be created", scope: .scheme) { context in
            do {
                _ = try Subject(context)
                return .pass
            } catch CheckStop.needsSettings(let reason) {
                let table = try context.scheme().pointee
                let values = SettingValues(table.settings, table.setting_count, given: context.given, seed: context.seed)
                let isGenerated = values.declarations.contains { declaration in
                    declaration.isRequired && declaration.defaultValue.isEmpty
                        && !context.given.contains { Array($0.name.utf8) == declaration.name }
                }
                guard !isGenerated else { return .needsSettings(reason) }
                return .fail(
                    "create accepts the settings of the command line and the defaults", reason,
                    "Pass other values with --set, or accept these if they are valid")
            }
        },
        .probing("lifecycle.independent", "Destroying one instance leaves the others alone") { subject in
            let token = try subject.usableCredential()
            try subject.requireDeterminism(token)
            let view = try subject.view()
            let before = Signed(subject.authorize(token, view))
            let other = try subject.another()
            let ownToken = subject.credential(on: other)
            _ = subject.authorize(ownToken, view, on: other)
            releasing(ownToken)
            other.destroy()
            let after = Signed(subject.authorize(token, view))
            guard before == after else {
                return .fail(
                    "authorize gives the same result before and after another instance is destroyed",
                    before.difference(from: after),
                    "Keep an instance's data in the instance, and nothing in global variables")
            }
            return .pass
        },
    ]

    static let lifecycleChecks: [Check] = allLifecycleChecks.map { check in
        switch check.id {
        case "lifecycle.missing-setting": check.caused(by: "lifecycle.no-settings")
        case "lifecycle.empty-values": check.caused(by: "lifecycle.no-settings", "lifecycle.missing-setting")
        case "lifecycle.refused-memory":
            check.caused(by: "lifecycle.no-settings", "lifecycle.missing-setting", "lifecycle.empty-values")
        case "lifecycle.unused": check.caused(by: "process.threads", "process.descriptors")
        case "lifecycle.mid-flow": check.caused(by: "flow.unused")
        case "lifecycle.other-thread", "lifecycle.without-extensions": check.caused(by: "authorize.no-token")
        default: check
        }
    }

    private static let allLifecycleChecks: [Check] = [
        .probing("lifecycle.unused", "Instances that are never used leave nothing behind", patience: 3) { subject in
            let growth = Heap.growth(rounds: 1000) { subject.host.create(subject.settings).0?.destroy() }
            guard growth > Heap.tolerance else { return .pass }
            return .fail(
                "Memory is the same after 1,000 calls of create and destroy", "\(growth) bytes remain each time",
                "Free everything that create allocated in destroy, including the instance itself")
        },
        settings("lifecycle.no-settings", "create without any settings refuses them, or makes an instance") { _ in
            [("none at all", [])]
        },
        settings("lifecycle.missing-setting", "create without one of the settings refuses them, or makes an instance") {
            subject in
            subject.settings.indices.map { index in
                var settings = subject.settings
                let name = settings.remove(at: index).name
                return ("all but \"\(Shown.text(name))\"", settings)
            }
        },
        values("lifecycle.empty-values", "create refuses empty values, or makes an instance") { _ in [] },
        values("lifecycle.long-values", "create refuses values of 256 KiB, or makes an instance") { _ in
            [UInt8](repeating: UInt8(ascii: "a"), count: 256 << 10)
        },
        values("lifecycle.not-utf8", "create refuses values that are not UTF-8, or makes an instance") { _ in
            [0xFF, 0xC0, 0x80, 0xED, 0xA0, 0x80]
        },
        values("lifecycle.nul-values", "create refuses values with a NUL, or makes an instance") { value in
            [0] + value + [0, 0x61]
        },
        values("lifecycle.wrong-kind", "create refuses values of another kind, or makes an instance") { _ in
            Array("\u{1F511} 99999999999999999999 %s%n".utf8)
        },
        settings("lifecycle.unknown-setting", "create ignores or refuses a setting that it doesn't declare") { subject in
            [("one that is not declared", subject.settings + [ContractPair("no-such-setting", "1"), ContractPair("", "")])]
        },
        settings("lifecycle.repeated-settings", "create refuses settings that occur twice, or makes an instance") { subject in
            [("each twice", subject.settings + subject.settings)]
        },
        .probing("lifecycle.refused-memory", "A refused create leaves nothing behind", patience: 3) { subject in
            let variants: [[ContractPair]] =
                [[]]
                + subject.settings.indices.map { index in
                    var settings = subject.settings
                    settings[index].value = []
                    return settings
                }
            guard let refused = variants.first(where: { settings in subject.host.create(settings).0 == nil }) else {
                return .skip("create refuses neither missing nor empty settings")
            }
            let growth = Heap.growth(rounds: 1000) { _ = subject.host.create(refused) }
            guard growth > Heap.tolerance else { return .pass }
            return .fail(
                "Memory is the same after 1,000 calls of create with settings that it refuses",
                "\(growth) bytes remain each time",
                "Free everything that was allocated before the fault was found")
        },
        .probing("lifecycle.mid-flow", "An instance can be destroyed after any step of a flow", patience: 2) { subject in
            guard subject.instance.hasFlows else { return .skip("the scheme has no flows") }
            let steps = subject.login()?.steps.count ?? 0
            for limit in 0...min(steps, 20) {
                let other = try subject.another()
                _ = FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(subject.serverStyle()), on: other).finished(
                    after: limit)
                other.destroy()
            }
            return .noted("after each of \(steps) steps")
        },
        .probing("lifecycle.needs", "This host knows the needs of an instance") { subject in
            let (needs, faults) = subject.instance.needs()
            guard let needs else { return faults.first.map { needsFailure($0) } ?? .pass }
            if let fault = faults.first { return needsFailure(fault) }
            let known = (0...8).reduce(UInt32(0)) { $0 | 1 << UInt32($1) }
            let unknown = needs.flags & ~known
            if unknown != 0 { return needsFailure("flags has the bits 0x\(String(unknown, radix: 16))") }
            let algorithms: Set<String> = ["sha-256", "sha-384", "sha-512"]
            for name in needs.digests + needs.responseDigests where !algorithms.contains(String(decoding: name, as: UTF8.self)) {
                return needsFailure("it names the digest \"\(Shown.text(name))\"")
            }
            if needs.digests.count > Int(NEVOD_LIMIT_DIGESTS) || needs.responseDigests.count > Int(NEVOD_LIMIT_DIGESTS) {
                return needsFailure("it names more than \(NEVOD_LIMIT_DIGESTS) digests")
            }
            if needs.challengeStatuses.count > Int(NEVOD_LIMIT_STATUSES) {
                return needsFailure("it names \(needs.challengeStatuses.count) statuses")
            }
            if let status = needs.challengeStatuses.first(where: { !(300...599).contains($0) }) {
                return needsFailure("it names the challenge status \(status)")
            }
            if needs.challengeTypes.count > Int(NEVOD_LIMIT_TYPES) {
                return needsFailure("it names \(needs.challengeTypes.count) media types")
            }
            if let type = needs.challengeTypes.first(where: { MediaType(name: $0) == nil }) {
                return needsFailure("it names the challenge type \"\(Shown.text(type))\", which is not a media type")
            }
            return .pass
        },
        .probing("lifecycle.stable-needs", "The needs of an instance don't change") { subject in
            let before = subject.instance.needs().needs
            _ = subject.authorize(subject.credential(), try subject.view())
            _ = try subject.another()
            guard before == subject.instance.needs().needs else {
                return .fail(
                    "needs returns the same result for the life of the instance", "It returned something else after authorize",
                    "Decide the needs in create, and keep them in the instance")
            }
            return .pass
        },
        .probing("lifecycle.other-thread", "An instance can be destroyed on another thread") { subject in
            let host = subject.host
            let settings = subject.settings
            let view = try subject.view()
            for _ in 0..<20 {
                let made = Threads.run(1) { _ in host.create(settings).0 }
                guard let instance = made.first ?? nil else { return .skip("create refuses the settings on another thread") }
                _ = Threads.run(1) { _ in instance.authorize(.none, view).result }
                instance.destroy()
            }
            return .pass
        },
        .probing("lifecycle.without-extensions", "The scheme works with a host that has no extensions") { subject in
            var options = ContractHost.Options()
            options.publicSuffixes = nil
            options.observer = subject.context.calls.observer
            let host = ContractHost(subject.host.scheme, options)
            let (instance, outcome) = host.create(subject.settings)
            guard let instance else {
                guard outcome.result == NEVOD_UNSUPPORTED else {
                    return .fail(
                        "create makes an instance, or returns NEVOD_UNSUPPORTED, if get_extension returns NULL",
                        "It returned \(TestFailure.name(of: outcome.result))",
                        "Do without the extension, or return NEVOD_UNSUPPORTED with a reason")
                }
                return .noted("it needs an extension of the host")
            }
            _ = instance.needs()
            _ = instance.authorize(.none, try subject.view())
            instance.destroy()
            return .pass
        },
    ]

    private static func needsFailure(_ happened: String) -> CheckResult {
        .fail(
            "needs names flags, digests, statuses and media types of the contract",
            "\(happened.prefix(1).uppercased())\(happened.dropFirst())",
            "Use NEVOD_NEED_…, the digests sha-256, sha-384 and sha-512, statuses from 300 to 599, and types such as text/html")
    }

    /// Releases a token before its instance is destroyed.
    private static func releasing(_ token: consuming ContractInstance.TokenArgument) {}

    // MARK: Bad settings

    /// Calls `create` with settings that no host passes, or that the plugin's author may not have thought of. It must accept
    /// them, or refuse them with a reason.
    private static func settings(
        _ id: String, _ title: String, _ variants: @escaping @Sendable (Subject) -> [(name: String, settings: [ContractPair])]
    ) -> Check {
        .probing(id, title) { subject in
            let names = Set(subject.values.declarations.map(\.name))
            for (name, settings) in variants(subject) {
                let (instance, outcome) = subject.host.create(settings)
                if let instance {
                    _ = instance.needs()
                    instance.destroy()
                }
                if let finding = problem(outcome, with: name, names) { return .fail(finding) }
            }
            return .pass
        }
    }

    private static func values(_ id: String, _ title: String, _ value: @escaping @Sendable (_ old: [UInt8]) -> [UInt8]) -> Check {
        settings(id, title) { subject in
            subject.settings.indices.map { index in
                var settings = subject.settings
                settings[index].value = value(settings[index].value)
                return ("such a value for \"\(Shown.text(settings[index].name))\"", settings)
            }
        }
    }

    private static func problem(_ outcome: ContractOutcome, with variant: String, _ names: Set<[UInt8]>) -> Finding? {
        let fix =
            "Return NEVOD_BAD_SETTINGS, and report the setting's name as the subject and the fault as the message."
        let legal = [NEVOD_OK, NEVOD_BAD_SETTINGS, NEVOD_UNAVAILABLE, NEVOD_UNSUPPORTED, NEVOD_INTERNAL].map { Int32($0) }
        guard legal.contains(outcome.result) else {
            return Finding(
                expected: "create returns a suitable status for \(variant).",
                happened: "It returned \(TestFailure.name(of: outcome.result)).", fix: fix)
        }
        guard outcome.result == NEVOD_BAD_SETTINGS else { return nil }
        guard let report = outcome.report, !report.message.isEmpty else {
            return Finding(expected: "create reports why it refuses \(variant).", happened: "It reported nothing.", fix: fix)
        }
        guard names.contains(report.subject) || report.subject.isEmpty && names.isEmpty else {
            return Finding(
                expected: "The report for \(variant) names a setting of the scheme.",
                happened: report.subject.isEmpty ? "It names no setting." : "It names \"\(Shown.text(report.subject))\".",
                fix: fix)
        }
        return nil
    }
}
