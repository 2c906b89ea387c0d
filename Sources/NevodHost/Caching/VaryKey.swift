/// Which request lines an answer depends on (RFC 9111 §4.1), and a digest of what they were: a line may hold a credential.
struct VaryKey: Hashable, Sendable {
    /// Lower-case, in order, each once.
    private let names: [String]
    private let values: KeyedDigest

    /// Nil for `Vary: *`, which no request matches.
    init?(of headers: HTTPHeaders, for request: HTTPRequest) {
        let names = Self.names(in: headers)
        guard !names.contains("*"), let values = Self.digest(names, in: request) else { return nil }
        self.names = names
        self.values = values
    }

    func matches(_ request: HTTPRequest) -> Bool {
        names.isEmpty || Self.digest(names, in: request) == values
    }

    private static func names(in headers: HTTPHeaders) -> [String] {
        let fields = headers.values(of: "Vary").flatMap { $0.split(separator: ",") }.map { field in
            field.lowercased().filter { $0 != " " && $0 != "\t" }
        }
        return Set(fields).subtracting([""]).sorted()
    }

    /// Several lines of a name are one list (RFC 9110 §5.2); a line that is missing is not an empty one.
    private static func digest(_ names: [String], in request: HTTPRequest) -> KeyedDigest? {
        guard !names.isEmpty else { return .nothing }
        guard var digest = KeyedDigest.Maker() else { return nil }
        for name in names {
            let values = request.headers.values(of: name)
            digest.add(name)
            digest.add(values.isEmpty ? "absent" : "present")
            digest.add(values.joined(separator: ", "))
        }
        return digest.finish()
    }
}
