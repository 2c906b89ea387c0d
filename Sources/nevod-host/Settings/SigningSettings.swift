import NevodHost

/// The settings that `--explain` and `--nonce` of `sign` give to a scheme that declares them.
struct SigningSettings {
    private let values: [(name: String, value: String)]

    init(_ arguments: Arguments, of scheme: Scheme) throws(UsageError) {
        var values: [(String, String)] = []
        let declares = { (name: String, kind: SchemeSetting.Kind) in
            scheme.settings.contains { $0.name == name && $0.kind == kind }
        }
        if arguments.has(.explain) {
            guard declares("explain", .boolean) else {
                throw UsageError(
                    "the scheme \"\(scheme.id)\" explains nothing: it has no setting \"explain\"; leave out --explain")
            }
            values.append(("explain", "true"))
        }
        if let nonce = arguments.value(.nonce) {
            guard declares("nonce", .text) else {
                throw UsageError("the scheme \"\(scheme.id)\" takes no nonce: it has no setting \"nonce\"; leave out --nonce")
            }
            values.append(("nonce", nonce))
        }
        self.values = values
    }

    /// Returns the values of `--set` with these in place of those of the same names.
    func replacing(_ given: [String]) -> [String] {
        given.filter { text in !values.contains { text.utf8.starts(with: "\($0.name)=".utf8) } }
            // A value of --nonce is never a source.
            + values.map { "\($0.name)=text:\($0.value)" }
    }
}
