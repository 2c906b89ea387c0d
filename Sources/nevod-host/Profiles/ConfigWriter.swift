import Glibc
import NevodHost

/// Writes the config file: one process at a time, in one step, and for this user alone.
struct ConfigWriter {
    let path: String

    init() throws(UsageError) {
        guard let path = ConfigFile.defaultPath() else {
            throw UsageError("there is no home directory for a config file; set HOME or XDG_CONFIG_HOME")
        }
        self.path = path
    }

    var folder: String { Self.folder(of: path) }

    /// Changes the file as it is at this moment, which may differ from what was read earlier. A result that can't be parsed is not
    /// written.
    func change(_ edit: (_ file: ConfigFile?, _ text: inout ConfigEditor) throws -> Void) throws {
        try replace { file in
            var editor = ConfigEditor(file?.bytes ?? [])
            try edit(file, &editor)
            return editor.bytes
        }
    }

    func replace(_ content: (_ file: ConfigFile?) throws -> [UInt8]) throws {
        try Self.createFolder(folder)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw OutputError(folder, errno) }
        defer { close(lock) }
        try Activity.during("waiting for another program that changes \(path)") {
            while flock(lock, LOCK_EX) != 0 { guard errno == EINTR else { throw OutputError(folder, errno) } }
        }
        let bytes = try content(try ConfigFile.load(path: path))
        _ = try ConfigFile(path: path, bytes: bytes)
        // A link stays, and its target is replaced.
        try Self.write(bytes, to: canonicalPath(path) ?? path)
    }

    /// Writes a file of mode 0600 in one step.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputError) {
        do throws(AtomicFileError) {
            let file = try AtomicFile.randomlyNamed(BodyOutput.temporaryPrefix(for: path), for: path)
            file.setMode(0o600)
            try file.write(bytes)
            try file.commit(isDurable: true)
        } catch { throw OutputError(path, error.code) }
    }

    /// Writes a new file of mode 0600 in one step. Returns false, and writes nothing, if there is one.
    static func create(_ bytes: [UInt8], at path: String) throws(OutputError) -> Bool {
        do throws(AtomicFileError) {
            let file = try AtomicFile.randomlyNamed(BodyOutput.temporaryPrefix(for: path), for: path)
            file.setMode(0o600)
            try file.write(bytes)
            try file.commit(.exclusively, isDurable: true)
            return true
        } catch {
            guard error.code != EEXIST else { return false }
            throw OutputError(path, error.code)
        }
    }

    /// Creates a folder of mode 0700, and those above it.
    static func createFolder(_ path: String) throws(OutputError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, path.utf8.count > 1 else { throw OutputError(path, errno) }
        try createFolder(folder(of: path))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw OutputError(path, errno) }
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }
}
