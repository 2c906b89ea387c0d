internal import NevodSupport

/// The request lines that a response depends on (RFC 9111 §4.1), and a digest of their values, which may contain credentials.
struct VaryKey: Hashable, Sendable {
    /// Lower-case, sorted, without duplicates.
    let names: [String]
    let values: KeyedDigest

    /// Restores a stored key.
    init(names: [String], values: KeyedDigest) {
        self.names = names
        self.values = values
    }

    /// Returns nil for `Vary: *`, which no request matches.
    init?(of headers: HTTPHeaders, for request: HTTPRequest, _ digests: KeyedDigest.Key?) {
        let names = Self.names(in: headers)
        guard !names.contains("*"), let values = Self.digest(names, in: request, digests) else { return nil }
        self.names = names
        self.values = values
    }

    func matches(_ request: HTTPRequest, _ digests: KeyedDigest.Key?) -> Bool {
        names.isEmpty || Self.digest(names, in: request, digests) == values
    }

    private static func names(in headers: HTTPHeaders) -> [String] {
        let fields = headers.values(of: "Vary").flatMap { $0.split(separator: ",") }.map { field in
            field.lowercased().filter { $0 != " " && $0 != "\t" }
        }
        return Set(fields).subtracting([""]).sorted()
    }

    /// Joins all lines with the same name into one list (RFC 9110 §5.2). A missing line differs from an empty one.
    private static func digest(
        _ names: [String], in request: HTTPRequest, _ digests: KeyedDigest.Key?
    ) -> KeyedDigest? {
        guard !names.isEmpty else { return .empty }
        guard var digest = KeyedDigest.Builder(digests) else { return nil }
        for name in names {
            let values = request.headers.values(of: name)
            digest.add(name)
            digest.add(values.isEmpty ? "absent" : "present")
            digest.add(values.joined(separator: ", "))
        }
        return digest.finish()
    }
}
