import NevodHost
import NevodSupport

/// A stored session's identity, from which its key in the store is made.
///
/// It includes a digest of the settings that are not secret. A user's name may be among them, and a request with one name must
/// not use another user's session.
struct SessionName: Sendable, Equatable {
    /// Empty without a profile.
    let profile: String
    /// The plugin's own name. It isn't the path, so that a newer file of the same plugin finds the session.
    let plugin: String
    let scheme: String
    /// The origins that the login's settings name, sorted.
    let origins: [String]
    let settings: String
    /// The further origins of the session, sorted: given by `--origin` at its login, or by the URL of the request that logged in.
    /// Empty with a profile, whose own origins count instead.
    var furtherOrigins: [String] = []
    /// The account, from `--account` or else from the scheme; may be empty.
    var account = ""
    /// The end of the key, for a session whose requests have certain parameters; empty for requests without parameters.
    var parameters = ""

    /// `session/PROFILE/PLUGIN:SCHEME@ORIGIN,ORIGIN;SETTINGS;FURTHER,FURTHER/ACCOUNT?PARAMETERS`. Each part is percent-encoded,
    /// so that it contains no separator. Without further origins, their semicolon is left out too. Without parameters, the key is
    /// the ``baseKey``.
    var key: StorageKey { parameters.isEmpty ? baseKey : StorageKey(value: "\(baseKey)?\(parameters)") }

    /// The key of the account's session for requests without parameters. The keys for requests with parameters begin with it.
    var baseKey: StorageKey {
        let further = furtherOrigins.map(Self.encoded).joined(separator: ",")
        return StorageKey(value: "\(prefix)\(further.isEmpty ? "" : ";\(further)")/\(Self.encoded(account))")
    }

    /// All origins of a session without a profile; empty if none is known.
    var allOrigins: [String] { origins + furtherOrigins }

    /// The parameters, to show to people: `scope=orders:write`, or a digest if there are many.
    var parameterText: String {
        parameters.split(separator: "&").map { Self.decoded($0) ?? String($0) }.joined(separator: " ")
    }

    /// The prefix of the keys of all accounts. The settings are a digest of fixed length, so that no prefix is the start of
    /// another one.
    var prefix: String {
        let places = origins.map(Self.encoded).joined(separator: ",")
        return "\(Self.start)\(Self.encoded(profile))/\(Self.encoded(plugin)):\(Self.encoded(scheme))@\(places);\(settings)"
    }

    static let start = "session/"

    init(profile: String, scheme: LoadedScheme) {
        let purpose = scheme.instance.purpose
        self.init(
            profile: profile, plugin: purpose.plugin, scheme: purpose.scheme, origins: purpose.origins,
            settings: scheme.instance.settingsDigest)
    }

    init(profile: String, plugin: String, scheme: String, origins: [String], settings: String, account: String = "") {
        self.profile = profile
        self.plugin = plugin
        self.scheme = scheme
        self.origins = origins
        self.settings = settings
        self.account = account
    }

    /// Returns nil for a key that is not a session's.
    init?(_ key: StorageKey) {
        let parts = key.rawValue.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "session" else { return nil }
        let place = parts[2].split(separator: "@", omittingEmptySubsequences: false)
        guard place.count == 2 else { return nil }
        let rest = place[1].split(separator: ";", omittingEmptySubsequences: false)
        let code = place[0].split(separator: ":", omittingEmptySubsequences: false)
        // A key that ends with a question mark belongs to the list of an account's parameters. It isn't a session's.
        let end = parts[3].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard end.count == 1 || !end[1].isEmpty else { return nil }
        guard (2...3).contains(rest.count), code.count == 2, let profile = Self.decoded(parts[1]),
            let plugin = Self.decoded(code[0]),
            let scheme = Self.decoded(code[1]), let account = Self.decoded(end[0])
        else { return nil }
        let origins = rest[0].split(separator: ",").compactMap(Self.decoded)
        self.init(
            profile: profile, plugin: plugin, scheme: scheme, origins: origins, settings: String(rest[1]), account: account)
        if rest.count == 3 { furtherOrigins = rest[2].split(separator: ",").compactMap(Self.decoded) }
        parameters = end.count == 2 ? String(end[1]) : ""
    }

    func with(account: String) -> SessionName {
        var name = self
        name.account = account
        return name
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: PercentEncoding.queryItem(text.utf8), as: UTF8.self)
    }

    private static func decoded(_ text: Substring) -> String? {
        PercentEncoding.strictlyDecoded(text.utf8).flatMap { String(validating: $0, as: UTF8.self) }
    }
}
