internal import NevodPluginABI
internal import NevodSupport

/// The parameters of a request that one scheme declares: checked, in the order of the declarations, with defaults.
final class ParameterSet: Sendable {
    let values: [SchemeParameters.Parameter]
    /// Identifies the set: `acr=high&scope=a%20b`, percent-encoded, sorted by name, without defaults. A repeatable parameter's
    /// values keep their order. Empty if every parameter has its default.
    let canonical: String
    /// How many bytes the set takes up in a view, without its pairs.
    let byteCount: Int

    /// The maximum size of all names and values together, in bytes (`NEVOD_LIMIT_PARAMETERS`).
    static let mostBytes = 8192

    init(_ values: [SchemeParameters.Parameter], canonical: String) {
        self.values = values
        self.canonical = canonical
        byteCount = values.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }

    var isDefault: Bool { canonical.isEmpty }

    /// The end of the key of the set's token: the canonical form if it is short, so that people can read it, or else a digest of
    /// it.
    var keySuffix: String {
        guard canonical.utf8.count > 64 else { return canonical }
        var digest = [UInt8](repeating: 0, count: DigestAlgorithm.sha256.size)
        let isComplete = digest.withUnsafeMutableBufferPointer { output in
            guard let made = BodyDigest(.sha256) else { return false }
            let isRead = Array(canonical.utf8).withUnsafeBufferPointer { made.update($0) }
            return isRead && made.finish(into: output)
        }
        return isComplete ? "~" + Hexadecimal.text(digest.prefix(16)) : canonical
    }
}

extension SchemeInstance {
    /// The end of the key under which the token for these parameters is stored; empty if each has its default.
    package func keySuffix(for parameters: SchemeParameters) throws(PluginError) -> String {
        guard let set = try parameterSet(of: parameters), !set.isDefault else { return "" }
        return set.keySuffix
    }
}

extension Scheme: ParameterDeclaring {
    var parameterNames: [String] { parameters.map(\.name) }

    /// Throws if the scheme has no parameter of one of the names.
    package func checkNames(of given: SchemeParameters) throws(PluginError) {
        let valid = parameterNames
        for parameter in given.values where !valid.contains(parameter.name) {
            throw PluginError(plugin, .unknownParameter(schemes: [id], name: parameter.name, valid: valid))
        }
    }

    func checkValues(of given: SchemeParameters) throws(PluginError) {
        let own = given.values.filter { given in parameters.contains { $0.name == given.name } }
        for (index, given) in own.enumerated() {
            guard let parameter = parameters.first(where: { $0.name == given.name }) else { continue }
            if let problem = parameter.problem(with: given.value) {
                throw PluginError(plugin, .badParameter(scheme: id, name: given.name, problem: problem))
            }
            guard parameter.isRepeatable || !own[..<index].contains(where: { $0.name == given.name }) else {
                throw PluginError(plugin, .badParameter(scheme: id, name: given.name, problem: "was given more than once"))
            }
        }
        let bytes = own.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard let last = own.last, own.count > Int(NEVOD_LIMIT_PARAMETERS) || bytes > ParameterSet.mostBytes else { return }
        throw PluginError(
            plugin,
            .badParameter(
                scheme: id, name: last.name,
                problem: "exceeds the limit of a request, \(NEVOD_LIMIT_PARAMETERS) parameters with "
                    + "\(ParameterSet.mostBytes) bytes of names and values"))
    }

    /// Checks the parameters that this scheme declares, and adds the defaults. Other parameters belong to other schemes.
    ///
    /// - Returns: nil if the scheme declares none.
    func parameterSet(of given: SchemeParameters) throws(PluginError) -> ParameterSet? {
        guard !parameters.isEmpty else { return nil }
        try checkValues(of: given)
        var values: [SchemeParameters.Parameter] = []
        var distinct: [(name: String, items: [String])] = []
        for parameter in parameters {
            let own = given.values.filter { $0.name == parameter.name }
            let defaults = parameter.defaultValue.map { [SchemeParameters.Parameter(name: parameter.name, value: $0)] } ?? []
            guard !own.isEmpty || !defaults.isEmpty || !parameter.isRequired else {
                throw PluginError(
                    plugin,
                    .missingParameter(scheme: id, name: parameter.name, help: parameter.help, valid: parameterNames))
            }
            values += own.isEmpty ? defaults : own
            guard !own.isEmpty, own != defaults else { continue }
            distinct.append(
                (
                    parameter.name,
                    own.map { "\($0.name)=" + String(decoding: PercentEncoding.queryItem($0.value.utf8), as: UTF8.self) }
                ))
        }
        let canonical = distinct.sorted { $0.name < $1.name }.flatMap(\.items).joined(separator: "&")
        return ParameterSet(values, canonical: canonical)
    }

    /// Returns the set with a stored canonical form; nil if the form is no longer valid, because the scheme's declarations have
    /// changed.
    func parameterSet(canonical: String) -> ParameterSet? {
        var given = SchemeParameters()
        for item in canonical.split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let value = PercentEncoding.strictlyDecoded(parts[1].utf8),
                let text = String(validating: value, as: UTF8.self)
            else { return nil }
            given.add(String(parts[0]), text)
        }
        guard let set = try? parameterSet(of: given), set.canonical == canonical else { return nil }
        return set
    }
}
