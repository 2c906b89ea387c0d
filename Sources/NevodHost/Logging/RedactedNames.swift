internal import NevodSupport

/// Names whose values never reach a log: of headers, query items, and fields of JSON and form bodies.
///
/// Only the letters and digits of a name are compared: `api-key` matches the end of `X-Api-Key`, `apiKey` and `API_KEY`. A pattern
/// with a star at either end, `*token*`, matches anywhere in a name. A pattern without matches the whole name, or one of its
/// parts where dots or brackets divide it (`user[code]`).
public struct RedactedNames: Sendable, Hashable {
    private var whole: Set<[UInt8]> = []
    private var parts: Set<[UInt8]> = []

    /// - Parameter patterns: names, with a star at either end for parts of names. Patterns without a letter or digit are
    ///   ignored.
    public init(_ patterns: some Sequence<String>) {
        for pattern in patterns {
            let name = Self.normalized(pattern.utf8)
            guard !name.isEmpty else { continue }
            if pattern.hasPrefix("*") || pattern.hasSuffix("*") { parts.insert(name) } else { whole.insert(name) }
        }
    }

    /// The names of secrets in OAuth 2, cookies, signatures and the common schemes of API keys.
    public static let `default` = RedactedNames(SecretNames.patterns)

    /// Returns these names and more.
    public func adding(_ patterns: some Sequence<String>) -> RedactedNames {
        let more = RedactedNames(patterns)
        var names = self
        names.whole.formUnion(more.whole)
        names.parts.formUnion(more.parts)
        return names
    }

    package func contains(_ name: some Sequence<UInt8>) -> Bool {
        let name = Array(name)
        let all = Self.normalized(name)
        guard !all.isEmpty, !Self.harmless.contains(all) else { return false }
        if whole.contains(all) || parts.contains(where: { all.holds($0) }) { return true }
        return name.split { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "]") || $0 == UInt8(ascii: ".") }
            .contains { whole.contains(Self.normalized($0)) }
    }

    private static let harmless: Set<[UInt8]> = Set(SecretNames.harmless.map { normalized($0.utf8) })

    private static func normalized(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.map(HTTPSyntax.lowercased).filter {
            $0 >= 0x80 || $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") || $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z")
        }
    }
}

extension [UInt8] {
    func holds(_ part: [UInt8]) -> Bool {
        guard let first = part.first, count >= part.count else { return false }
        return (0...count - part.count).contains { self[$0] == first && self[$0...].starts(with: part) }
    }
}
