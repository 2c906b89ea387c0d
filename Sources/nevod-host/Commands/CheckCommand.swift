import Glibc
import NevodHost
import NevodPluginChecks

/// `check`: checks whether a plugin keeps the contract.
struct CheckCommand {
    let arguments: Arguments
    let console: Console

    func run() throws {
        let checks = try chosenChecks()
        if arguments.has(.list) { return try output(Columns.text(checks.map { [$0.id, $0.title] })) }
        guard let name = arguments.operands.first, arguments.operands.count == 1 else {
            throw UsageError("check needs one plugin: nevod-host check NAME")
        }
        guard !(arguments.has(.json) && arguments.value(.junit) == "-") else {
            throw UsageError("--json and --junit - would both write to standard output; give --junit a file")
        }
        let path = try PluginLocator.standard.find(name)
        let seed = try number(.seed) ?? Int(UInt32.random(in: 0...UInt32.max))
        let fuzz = try number(.fuzz) ?? 0
        let timeout = try number(.timeout) ?? 10
        guard timeout > 0, timeout <= 86_400, fuzz <= 86_400 else {
            throw UsageError("--timeout needs 1 to 86400 seconds, and --fuzz at most 86400")
        }
        guard fuzz > 0 || arguments.has(.only) && arguments.has(.seed) || checks.contains(where: { $0.scope != .fuzz }) else {
            throw UsageError("these checks need --fuzz SECONDS")
        }
        let runner = CheckRunner(
            CheckRunner.Options(
                path: path, timeout: timeout, seed: UInt64(seed), fuzzSeconds: fuzz,
                repeatsFuzzedCase: arguments.has(.only) && arguments.has(.seed)))
        let description = try runner.describe()
        let (schemes, settings) = try chosenSchemes(description, path)
        let report = CheckReport(path: path, seed: seed)
        let isPlain = !arguments.has(.json) && arguments.value(.junit) != "-"
        if isPlain { try output(report.begin()) }
        var outcomes: [Outcome] = []
        var failure: (any Error)?
        try runner.run(checks, description, settings: settings, schemeIDs: schemes) { outcome in
            outcomes.append(outcome)
            guard isPlain, failure == nil else { return }
            do { try report.write(outcome) } catch { failure = error }
        }
        if let failure { throw failure }
        if isPlain { try output(report.end(outcomes)) }
        if arguments.has(.json) { try output(report.json(outcomes).text) }
        if let file = arguments.value(.junit) {
            try write(JUnitReport(path: path, seed: seed, outcomes: outcomes).text, to: file)
        }
        let failures = outcomes.count { $0.kind.isFailure }
        guard failures == 0 else { throw BrokenContractError(path: path, failures: failures, checks: outcomes.count) }
        if let reason = description.refusal, outcomes.contains(where: { $0.kind == .skipped && $0.check.scope != .file }) {
            throw UncheckedPluginError(path: path, reason: reason)
        }
        for scheme in Set(outcomes.compactMap(\.scheme)).sorted() {
            let own = outcomes.filter { $0.scheme == scheme }
            if own.allSatisfy({ $0.kind == .skipped }), own.contains(where: \.needsSettings) {
                console.warning(
                    "the scheme \"\(scheme)\" was not checked, because it refuses generated settings; pass --set NAME=VALUE")
            }
        }
    }

    private func chosenChecks() throws -> [Check] {
        let only = try arguments.value(.only).map { try Pattern($0, .only) }
        let skip = try arguments.value(.skip).map { try Pattern($0, .skip) }
        let chosen = CheckCatalogue.all.filter { only?.matches($0.id) ?? true && !(skip?.matches($0.id) ?? false) }
        guard !chosen.isEmpty else { throw UsageError("no check matches; nevod-host check --list prints them") }
        return chosen
    }

    private func number(_ flag: Flag.Name) throws -> Int? {
        guard let text = arguments.value(flag) else { return nil }
        guard let number = Int(text), number >= 0, text.utf8.first != UInt8(ascii: "+") else {
            throw UsageError("\(flag.spelling) needs a number, not \"\(text)\"")
        }
        return number
    }

    /// Returns the ids of the schemes to check (nil for all) and their settings.
    private func chosenSchemes(_ description: CheckRunner.Description, _ path: String) throws -> ([String]?, [GivenSetting]) {
        guard case .schemes(let all) = description else { return (nil, []) }
        var chosen = all
        if let id = arguments.value(.scheme) {
            chosen = all.filter { $0.id == id }
            guard !chosen.isEmpty else { throw PluginError(path, .unknownScheme(id, offered: all.map(\.id))) }
        }
        let declared = chosen.flatMap(\.settings)
        let settings = try arguments.values(.set).map { text in
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw UsageError("--set needs a name and a value: --set NAME=VALUE")
            }
            let name = String(text[..<equals])
            let source = String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self)
            guard declared.contains(where: { $0.name == name }) else {
                throw PluginError(
                    path,
                    .unknownSetting(scheme: chosen.map(\.id).joined(separator: ", "), name: name, valid: declared.map(\.name)))
            }
            let isSecret = declared.contains { $0.name == name && $0.isSecret }
            return GivenSetting(name: name, value: try value(of: name, source, isSecret: isSecret))
        }
        return (arguments.value(.scheme).map { [$0] }, settings)
    }

    private func value(of name: String, _ source: String, isSecret: Bool) throws -> [UInt8] {
        if SecretSource.isSource(source) {
            let value = try SecretSource(console: console).read(source, what: "the setting \"\(name)\"", isSecret: isSecret)
            return value.withUnsafeBytes { Array($0) }
        }
        guard !isSecret else {
            throw SettingSourceError(
                "the setting \"\(name)\" is a secret, and a command line can be read by other processes; "
                    + "write --set \(name)=env:VARIABLE, file:PATH or -")
        }
        return Array((source.hasPrefix("text:") ? String(source.dropFirst(5)) : source).utf8)
    }

    private func write(_ text: String, to path: String) throws {
        guard path != "-" else { return try output(text, terminator: "") }
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw OutputError(path, errno) }
        defer { close(file) }
        try FileDescriptor(number: file, name: path).write(Array(text.utf8).span)
    }
}

/// Reports that checks failed.
struct BrokenContractError: Error, CustomStringConvertible {
    let path: String
    let failures: Int
    let checks: Int

    var description: String {
        "\(path): \(failures) of \(checks) checks failed; Docs/checking.md explains each"
    }
}

/// Reports that checks were skipped because the host refuses the plugin, although no other check failed.
struct UncheckedPluginError: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
        "\(path) was not checked, since the host doesn't use it: \(reason) (nevod-host check, without --only and --skip, says more)"
    }
}

extension CheckRunner.Description {
    /// The reason why the host doesn't use the plugin; nil if it does.
    fileprivate var refusal: String? {
        switch self {
        case .schemes: nil
        case .unusable(let reason), .died(let reason, _): reason
        }
    }
}

/// An extended regular expression (POSIX, regex(7)) from the command line.
private final class Pattern {
    private var compiled = regex_t()

    init(_ text: String, _ flag: Flag.Name) throws {
        let failure = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB)
        guard failure == 0 else {
            var message = [CChar](repeating: 0, count: 256)
            regerror(failure, &compiled, &message, message.count)
            let reason = String(decoding: message.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            // `deinit` runs even if `init` throws, and frees this.
            _ = regcomp(&compiled, "", REG_NOSUB)
            throw UsageError("\(flag.spelling) needs a regular expression: \(reason)")
        }
    }

    deinit { regfree(&compiled) }

    func matches(_ text: String) -> Bool { regexec(&compiled, text, 0, nil, 0) == 0 }
}
