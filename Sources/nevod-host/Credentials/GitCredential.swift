/// The description of a credential that git sends to its helpers (git-credential(1), "Input/output format"): lines `KEY=VALUE` up to
/// an empty one.
struct GitCredential: Sendable {
    let protocolName: String
    /// With a port, if the URL has one.
    let host: String
    /// Nil unless `credential.useHttpPath` is set.
    let path: String?
    let username: String?
    let password: String?
    /// The credential of an authentication scheme; git 2.46 and later.
    let credential: String?
    /// The server's challenges, in their order; git 2.41 and later.
    let challenges: [String]
    /// Whether git understands `authtype` and `credential` (2.46 and later).
    let takesSchemes: Bool

    /// The largest input, in bytes.
    static let largest = 1 << 20

    /// - Throws: ``UsageError`` for a line that is none of the format's. Unknown keys are ignored, as git asks helpers to do.
    init(_ input: [UInt8]) throws(UsageError) {
        var values: [String: String] = [:]
        var lists: [String: [String]] = [:]
        for line in input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            guard !line.isEmpty else { break }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals > line.startIndex,
                !line.contains(0), let key = String(validating: line[..<equals], as: UTF8.self),
                let value = String(validating: line[(equals + 1)...], as: UTF8.self)
            else { throw UsageError("standard input is not git's description of a credential: lines KEY=VALUE") }
            guard key.hasSuffix("[]") else {
                values[key] = value
                continue
            }
            // An empty value clears the list.
            if value.isEmpty { lists[key] = [] } else { lists[key, default: []].append(value) }
        }
        protocolName = values["protocol"] ?? ""
        host = values["host"] ?? ""
        path = values["path"]
        username = values["username"].flatMap { $0.isEmpty ? nil : $0 }
        password = values["password"]
        credential = values["credential"]
        challenges = lists["wwwauth[]"] ?? []
        takesSchemes = lists["capability[]"]?.contains("authtype") ?? false
    }

    /// Nil unless it is a server's. A slash would end the host here, and not for git.
    var url: String? {
        guard ["http", "https"].contains(protocolName), !host.isEmpty, !host.utf8.contains(UInt8(ascii: "/")) else { return nil }
        return "\(protocolName)://\(host)/\(path ?? "")"
    }

    /// Whether the server asked for a scheme, or did not say.
    func mayUse(_ scheme: String) -> Bool {
        challenges.isEmpty
            || challenges.contains { challenge in
                challenge.prefix { $0 != " " && $0 != "," }.lowercased() == scheme
            }
    }
}
