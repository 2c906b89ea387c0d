import Glibc
import NevodHost
import NevodHostSecretService
import NevodSupport

/// A place where `profile add` keeps a secret.
enum SecretPlace: String, CaseIterable {
    case keyring, file

    /// The folder of the files, beside the config file.
    private static let folder = "secrets"

    /// Returns the source for a profile's setting.
    ///
    /// - Parameter number: 1, or a higher number for further values of a repeatable setting.
    func source(_ profile: String, _ setting: String, number: Int) -> String {
        let end = number == 1 ? "" : "-\(number)"
        switch self {
        case .keyring: return "keyring:\(profile)/\(setting)\(end)"
        case .file: return "file:\(Self.folder)/\(Self.encoded(profile)).\(Self.encoded(setting))\(end)"
        }
    }

    private static func encoded(_ text: String) -> String {
        String(decoding: PercentEncoding.queryItem(text.utf8), as: UTF8.self)
    }

    /// Returns the place in which `profile add` keeps a profile's secrets; nil for other sources, which belong to the user.
    init?(of source: String, in profile: String) {
        if source.utf8.starts(with: "keyring:\(profile)/".utf8) {
            self = .keyring
        } else if source.hasPrefix("file:\(Self.folder)/"), !source.utf8.dropFirst(13).contains(UInt8(ascii: "/")) {
            self = .file
        } else {
            return nil
        }
    }

    /// Writes a secret to a new place. If the place is taken, returns false and writes nothing: it may hold the secret of a
    /// profile that was renamed.
    ///
    /// - Parameter configFolder: the folder of the config file, which the caller has locked.
    func create(_ secret: Secret, _ source: String, configFolder: String) throws -> Bool {
        switch self {
        case .keyring:
            let item = KeyringItem(String(source.dropFirst(8)), application: SecretSource.application)
            guard try waiting(for: { try await item.secret() }) == nil else { return false }
            try waiting { try await item.set(secret) }
            return true
        case .file:
            try ConfigWriter.createFolder("\(configFolder)/\(Self.folder)")
            chmod("\(configFolder)/\(Self.folder)", 0o700)
            var bytes = secret.withUnsafeBytes { Array($0) } + [UInt8(ascii: "\n")]
            defer { bytes.withUnsafeMutableBytes { $0.wipe() } }
            return try ConfigWriter.create(bytes, at: "\(configFolder)/\(source.dropFirst(5))")
        }
    }

    /// Returns the same text for all sources of one place: a file may have several paths.
    static func identity(of source: String, configFolder: String) -> String {
        let resolved = ProfileFlag.resolved(source: source, in: configFolder)
        guard SecretSource.Kind(of: resolved) == .file else { return resolved }
        let path = HomeFolder.expanding(String(resolved.dropFirst(5)))
        return "file:\(canonicalPath(path) ?? path)"
    }

    /// Removes a secret. A missing secret isn't an error.
    func remove(_ source: String, configFolder: String) throws {
        switch self {
        case .keyring:
            let item = KeyringItem(String(source.dropFirst(8)), application: SecretSource.application)
            try waiting { try await item.remove() }
        case .file:
            let path = "\(configFolder)/\(source.dropFirst(5))"
            guard unlink(path) == 0 || errno == ENOENT else { throw OutputError(path, errno) }
        }
    }
}

/// A secret that `profile add` keeps for a setting.
struct KeptSecret {
    let setting: String
    var source: String
    let place: SecretPlace
    let value: Secret

    /// The value of the profile's `set`.
    var flagValue: String { "\(setting)=\(source)" }
}
