import Glibc
import NevodHost
import NevodSupport

/// Profiles: flags that someone doesn't want to type each time, and the base of relative URLs.
///
///     # ~/.config/nevod/config
///     [work]
///     url = https://api.example.com/v1
///     plugin = libHMACAuth.so
///     set = api-key=demo
///     set = secret=env:WORK_SECRET
///     location
struct ConfigFile {
    let path: String
    let profiles: [Profile]
    /// Worth a warning when a profile holds what others shouldn't know.
    let isReadableByOthers: Bool

    private static let maximumSize = 1 << 20

    /// `$XDG_CONFIG_HOME/nevod/config`, or the same below `~/.config`; nil without a home. A relative folder doesn't count
    /// (XDG Base Directory Specification).
    static func defaultPath() -> String? {
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return "\(folder)/nevod/config" }
        return environment("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.config/nevod/config" : nil }
    }

    /// Nil when there is no such file.
    static func load(path: String) throws -> ConfigFile? {
        // Without waiting, should it be a pipe.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw InputError(path, errno)
        }
        defer { close(descriptor) }
        // Of the open file, not of the name, which may be another file's by then.
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { throw InputError(path, errno) }
        guard info.st_mode & S_IFMT == S_IFREG else { throw ConfigError(path, nil, "it is not a file") }
        guard info.st_size <= maximumSize else { throw ConfigError(path, nil, "it is longer than a mebibyte") }
        try checkOwner(info, path, of: path)
        try checkFolder(of: path)
        let bytes = try FileDescriptor(number: descriptor, name: path).readAll()
        return try ConfigFile(
            path: path, bytes: bytes, isReadableByOthers: info.st_mode & (S_IRGRP | S_IROTH) != 0)
    }

    init(path: String, bytes: [UInt8], isReadableByOthers: Bool = false) throws(ConfigError) {
        self.path = path
        self.isReadableByOthers = isReadableByOthers
        profiles = try ConfigParser(path: path).profiles(bytes)
    }

    func profile(_ name: String) throws(ConfigError) -> Profile {
        if let profile = profiles.first(where: { $0.name == name }) { return profile }
        let names = profiles.map(\.name)
        let known = names.isEmpty ? "it has none" : "it has \(names.joined(separator: ", "))"
        let hint = Suggestions.hint(for: name, among: names)
        throw ConfigError(path, nil, "there is no profile \"\(TerminalText.safe(name))\"\(hint.isEmpty ? "; \(known)" : hint)")
    }

    /// Who writes here decides which plugin gets the secrets, and to which server they go.
    private static func checkOwner(_ info: stat, _ culprit: String, of path: String) throws(ConfigError) {
        guard info.st_uid == 0 || info.st_uid == geteuid() else {
            throw ConfigError(path, nil, "\(culprit) belongs to another user (uid \(info.st_uid))")
        }
        // In a folder with the sticky bit, such as /tmp, others can't replace what isn't theirs.
        let isSticky = info.st_mode & S_IFMT == S_IFDIR && info.st_mode & S_ISVTX != 0
        guard info.st_mode & (S_IWGRP | S_IWOTH) == 0 || isSticky else {
            throw ConfigError(path, nil, "others may write \(culprit); chmod go-w it")
        }
    }

    private static func checkFolder(of path: String) throws(ConfigError) {
        guard let canonical = canonicalPath(path), let slash = canonical.utf8.lastIndex(of: UInt8(ascii: "/")) else { return }
        let folder = slash == canonical.startIndex ? "/" : String(canonical[..<slash])
        var info = stat()
        guard stat(folder, &info) == 0 else { return }
        try checkOwner(info, folder, of: path)
    }
}
