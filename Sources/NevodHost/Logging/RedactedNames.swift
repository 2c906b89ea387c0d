/// Names of headers, query items, and fields of JSON and form bodies whose values never reach a log.
///
/// Only letters and digits are compared, ignoring case: `api-key` matches `apiKey` and `API_KEY`. A pattern with a star at either
/// end, `*token*`, matches anywhere in a name. A pattern without a star matches the whole name, or one of its parts between dots
/// or brackets (`user[code]`).
public struct RedactedNames: Sendable, Hashable {
    private let names: CredentialNames

    /// - Parameter patterns: patterns of names; a star at either end lets one match parts of names. Patterns without a letter or
    ///   digit are ignored.
    public init(_ patterns: some Sequence<String>) {
        names = CredentialNames(patterns)
    }

    private init(names: CredentialNames) {
        self.names = names
    }

    /// The names of secrets in OAuth 2, cookies, signatures and the common schemes of API keys.
    public static let `default` = RedactedNames(names: .standard)

    /// Returns these names and more.
    public func adding(_ patterns: some Sequence<String>) -> RedactedNames {
        var sum = names
        sum.formUnion(CredentialNames(patterns))
        return RedactedNames(names: sum)
    }

    package func contains(_ name: some Sequence<UInt8>) -> Bool { names.contains(name) }
}
