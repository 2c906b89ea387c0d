import Glibc
import NevodHost
import NevodSupport

/// The config file: profiles, each with flags and a base of relative URLs.
///
///     # ~/.config/nevod/config
///     default = work
///
///     [work]
///     url = https://api.example.com/v1
///     plugin = libHMACAuth.so
///     set = api-key=demo
///     set = secret=env:WORK_SECRET
///     location
struct ConfigFile {
    let path: String
    let profiles: [Profile]
    /// The name of the profile for relative URLs when none is chosen; nil for none.
    let defaultName: String?
    /// The text.
    let bytes: [UInt8]
    /// Whether other users can read the file, which deserves a warning: a profile may hold confidential values.
    let isReadableByOthers: Bool

    private static let maximumSize = 1 << 20

    /// `$XDG_CONFIG_HOME/nevod/config`, or the same below `~/.config`; nil without a home directory. A relative
    /// folder is ignored (XDG Base Directory Specification).
    static func defaultPath() -> String? {
        if let folder = trustedEnvironment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return "\(folder)/nevod/config" }
        return trustedEnvironment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.config/nevod/config" : nil }
    }

    /// Returns nil if there is no such file.
    static func load(path: String) throws -> ConfigFile? {
        guard let (bytes, isReadableByOthers) = try content(path: path) else { return nil }
        return try ConfigFile(path: path, bytes: bytes, isReadableByOthers: isReadableByOthers)
    }

    /// Reads a regular file that no other user may write; nil if there is no such file.
    static func content(path: String) throws -> (bytes: [UInt8], isReadableByOthers: Bool)? {
        // O_NONBLOCK, so that opening a pipe doesn't wait.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw InputError(path, errno)
        }
        defer { close(descriptor) }
        // Checks the open file, because the name may belong to another file by now.
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw InputError(path, errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw ConfigError(path, nil, "it is not a regular file") }
        guard info.st_size <= maximumSize else { throw ConfigError(path, nil, "it is larger than 1 MiB") }
        try checkOwner(info, path, of: path, at: "/proc/self/fd/\(descriptor)")
        try checkFolder(of: path)
        let bytes = try FileDescriptor(number: descriptor, name: path).readAll(limit: maximumSize)
        return (bytes, info.st_mode & (S_IRGRP | S_IROTH) != 0)
    }

    init(path: String, bytes: [UInt8], isReadableByOthers: Bool = false) throws(ConfigError) {
        self.path = path
        self.isReadableByOthers = isReadableByOthers
        self.bytes = bytes
        let content = try ConfigParser(path: path).content(bytes)
        defaultName = content.defaultName
        profiles = content.profiles.map { profile in
            var profile = profile
            profile.isReadableByOthers = isReadableByOthers
            return profile
        }
    }

    func profile(_ name: String) throws(ConfigError) -> Profile {
        if let profile = profiles.first(where: { $0.name == name }) { return profile }
        let names = profiles.map(\.name)
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        let hint = Suggestions.hint(for: name, among: names)
        throw ConfigError(path, nil, "there is no profile \"\(TerminalText.safe(name))\"\(hint.isEmpty ? "; \(known)" : hint)")
    }

    /// Refuses a file or folder that others can write: its content decides which plugin gets the secrets and where they are sent.
    private static func checkOwner(_ info: stat, _ culprit: String, of path: String, at place: String) throws(ConfigError) {
        guard info.st_uid == 0 || info.st_uid == geteuid() else {
            throw ConfigError(path, nil, "\(culprit) belongs to another user (uid \(info.st_uid))")
        }
        // In a folder with the sticky bit, such as /tmp, other users can't replace a file.
        let isSticky = info.st_mode & S_IFMT == S_IFDIR && info.st_mode & S_ISVTX != 0
        let isWritable =
            info.st_mode & S_IWOTH != 0
            || info.st_mode & S_IWGRP != 0 && (!PrivateGroup.isOwn(info.st_gid) || PrivateGroup.mayHaveAccessList(place))
        guard !isWritable || isSticky else {
            throw ConfigError(path, nil, "others may write \(culprit); chmod go-w it")
        }
    }

    /// Checks the file's folder, and all above it, as for a plugin: with write access to one of them, another user can replace the
    /// file.
    private static func checkFolder(of path: String) throws(ConfigError) {
        guard let canonical = canonicalPath(path), let slash = canonical.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        let folder = slash == canonical.startIndex ? "/" : String(canonical[..<slash])
        var info = stat()
        guard stat(folder, &info) == 0 else { return }
        try checkOwner(info, folder, of: path, at: folder)
        guard path.hasPrefix("/"), let (culprit, problem) = PathTrust.problem(along: path, isSearched: false) else { return }
        throw ConfigError(path, nil, "\(culprit), above it, \(problem); only you and root may be able to change it")
    }
}
