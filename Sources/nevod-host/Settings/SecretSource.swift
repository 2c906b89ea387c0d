import Glibc
import NevodHost
import NevodHostSecretService
import NevodSupport

/// Reads a value from its source: `env:VARIABLE`, `file:PATH`, `keyring:NAME`, `command:PROGRAM ARGUMENT …` or `-`.
struct SecretSource {
    let console: Console

    /// The attribute `application` of the keyring's items.
    static let application = "nevod-host"

    static func isSource(_ text: String) -> Bool {
        FileSecrets.secret(text) != nil || text == "-" || Kind(of: text) != nil
    }

    /// The kinds of sources that have a name.
    enum Kind: String, CaseIterable {
        case env, file, keyring, command

        init?(of text: String) {
            guard let kind = Self.allCases.first(where: { text.hasPrefix("\($0.rawValue):") }) else { return nil }
            self = kind
        }

        /// The form to write, for messages.
        var form: String {
            switch self {
            case .env: "env:VARIABLE"
            case .file: "file:PATH"
            case .keyring: "keyring:NAME"
            case .command: "command:PROGRAM ARGUMENT …"
            }
        }
    }

    /// - Parameters:
    ///   - source: one of the five kinds.
    ///   - what: the value's name, for messages.
    func read(_ source: String, what: String, isSecret: Bool = true) throws -> Secret {
        if let secret = FileSecrets.secret(source) { return secret }
        guard let kind = Kind(of: source) else {
            return Secret(copying: withoutLineEnd(try readFile("-", limit: InputLimit.setting)))
        }
        let name = String(decoding: source.utf8.dropFirst(kind.rawValue.utf8.count + 1), as: UTF8.self)
        guard !name.isEmpty else {
            throw SettingSourceError("\(what) has \(kind.rawValue): with nothing after it; write \(kind.form)")
        }
        switch kind {
        case .env:
            // The system splits each entry of the environment at its first equals sign.
            guard !name.utf8.contains(UInt8(ascii: "=")), let text = getenv(name) else {
                throw SettingSourceError(
                    "\(what) is read from the environment variable \(TerminalText.safe(name)), which is not set")
            }
            return Secret(copying: UnsafeRawBufferPointer(start: text, count: strlen(text)))
        case .file:
            let path = HomeFolder.expanding(name)
            if isSecret, path != "-" { warnIfOthersCanRead(path) }
            return Secret(copying: withoutLineEnd(try readFile(path, limit: InputLimit.setting)))
        case .keyring:
            let item = KeyringItem(name, application: Self.application)
            let found = try Activity.during("reading the keyring") { () throws(SettingSourceError) in
                do { return try waiting(for: { try await item.secret() }) } catch {
                    throw SettingSourceError("\(what): \(error)")
                }
            }
            guard let found else {
                throw SettingSourceError(
                    "\(what) is read from the keyring's item \"\(TerminalText.safe(name))\", which does not exist; write it with: "
                        + "secret-tool store --label \(ShellWord.quoted(name)) application \(Self.application) name "
                        + ShellWord.quoted(name))
            }
            return found
        case .command:
            return Secret(copying: withoutLineEnd(try SourceCommand(name, what: what).output()))
        }
    }

    /// Removes one line break at the end, because editors and `echo` add one.
    private func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    private func warnIfOthersCanRead(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_mode & S_IROTH != 0 else { return }
        console.warning(warning(aboutReadersOf: path))
    }
}

/// Reports that a setting, password or answer can't be read from its source.
struct SettingSourceError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
