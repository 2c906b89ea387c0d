import Glibc
import NevodHost

/// Reads a value from its source: `env:VARIABLE`, `file:PATH` or `-`.
struct SecretSource {
    let console: Console

    static func isSource(_ text: String) -> Bool {
        text == "-" || text.hasPrefix("env:") || text.hasPrefix("file:")
    }

    /// - Parameters:
    ///   - source: one of the three.
    ///   - what: the value's name, for errors.
    func read(_ source: String, what: String, isSecret: Bool = true) throws -> Secret {
        if source.hasPrefix("env:") {
            let variable = String(source.dropFirst(4))
            guard let text = getenv(variable) else {
                throw SettingSourceError("\(what) is read from the environment variable \(variable), which is not set")
            }
            return Secret(copying: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        }
        let path = source.hasPrefix("file:") ? String(source.dropFirst(5)) : "-"
        if isSecret, path != "-" { warnIfOthersCanRead(path) }
        return Secret(copying: withoutLineEnd(try readFile(path, limit: InputLimit.setting)))
    }

    /// Removes one line break at the end, which editors and `echo` add.
    private func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    private func warnIfOthersCanRead(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_mode & S_IROTH != 0 else { return }
        console.warning("\(path) holds a secret, and all users can read it; chmod 600 it")
    }
}

/// Reports a setting, password or answer that can't be read from its source.
struct SettingSourceError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
