import NevodHost
import NevodSupport

/// A file of names and passwords for machines: `~/.netrc` (curl's "netrc" page, GNU inetutils).
struct NetrcFile {
    private struct Entry {
        /// In lower case; nil for `default`.
        var machine: String?
        var login: [UInt8]?
        var password: [UInt8]?
    }

    private var entries: [Entry] = []

    /// Reads the entries. Unknown words are ignored, as in curl.
    init(_ bytes: [UInt8]) {
        var words = Words(bytes)
        while let word = words.next() {
            switch String(decoding: word, as: UTF8.self) {
            case "machine":
                entries.append(Entry(machine: words.next().map { String(decoding: $0, as: UTF8.self).lowercased() } ?? ""))
            case "default": entries.append(Entry(machine: nil))
            case "login":
                if let last = entries.indices.last { entries[last].login = words.next() }
            case "password":
                if let last = entries.indices.last { entries[last].password = words.next() }
            case "account": _ = words.next()
            case "macdef": words.skipMacro()
            default: continue
            }
        }
    }

    /// Returns `name:password` from the first entry for the host, or from `default` if that comes first.
    ///
    /// - Parameters:
    ///   - host: the host, in upper or lower case.
    ///   - login: the name that the entry must have; nil for any.
    func userAndPassword(host: String, login: [UInt8]? = nil) -> Secret? {
        let host = host.lowercased()
        let entry = entries.first { entry in
            (entry.machine == nil || entry.machine == host) && (login == nil || entry.login == nil || entry.login == login)
        }
        guard let entry, let name = entry.login ?? login else { return nil }
        return Secret(copying: name + [UInt8(ascii: ":")] + (entry.password ?? []))
    }

    /// The words of the file. A word in quotes may contain spaces, and `\n`, `\r`, `\t` and escaped quotes.
    private struct Words {
        private let bytes: [UInt8]
        private var offset = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func next() -> [UInt8]? {
            skipSpaceAndComments()
            guard offset < bytes.count else { return nil }
            guard bytes[offset] == UInt8(ascii: "\"") else {
                let start = offset
                while offset < bytes.count, !bytes[offset].isCWhitespace { offset += 1 }
                return Array(bytes[start..<offset])
            }
            return quoted()
        }

        private mutating func quoted() -> [UInt8] {
            offset += 1
            var word: [UInt8] = []
            while offset < bytes.count, bytes[offset] != UInt8(ascii: "\"") {
                var byte = bytes[offset]
                if byte == UInt8(ascii: "\\"), offset + 1 < bytes.count {
                    offset += 1
                    byte = Self.unescaped(bytes[offset])
                }
                word.append(byte)
                offset += 1
            }
            // The closing quote, which may be missing.
            offset += 1
            return word
        }

        private static func unescaped(_ byte: UInt8) -> UInt8 {
            switch byte {
            case UInt8(ascii: "n"): UInt8(ascii: "\n")
            case UInt8(ascii: "r"): UInt8(ascii: "\r")
            case UInt8(ascii: "t"): UInt8(ascii: "\t")
            default: byte
            }
        }

        private mutating func skipSpaceAndComments() {
            while offset < bytes.count {
                if bytes[offset].isCWhitespace {
                    offset += 1
                } else if bytes[offset] == UInt8(ascii: "#"), isAtStartOfLine {
                    skipLine()
                } else {
                    return
                }
            }
        }

        private var isAtStartOfLine: Bool {
            var before = offset
            while before > 0, bytes[before - 1].isBlank { before -= 1 }
            return before == 0 || bytes[before - 1] == UInt8(ascii: "\n")
        }

        /// Skips to the empty line that ends a macro.
        mutating func skipMacro() {
            while offset < bytes.count {
                skipLine()
                if offset < bytes.count, bytes[offset] == UInt8(ascii: "\n") { return }
            }
        }

        private mutating func skipLine() {
            while offset < bytes.count, bytes[offset] != UInt8(ascii: "\n") { offset += 1 }
            if offset < bytes.count { offset += 1 }
        }
    }
}

extension RequestCredentials {
    /// Reads the name and the password for a host from the file of `--netrc-file`, or from `~/.netrc`.
    func netrc(isOptional: Bool, _ host: String) throws -> Secret? {
        guard let path = arguments.value(.netrcFile) ?? environment("HOME").map({ "\($0)/.netrc" }) else {
            throw UsageError("--netrc needs a home directory; set HOME, or write --netrc-file FILE")
        }
        guard fileExists(path) else {
            if !isOptional || arguments.has(.netrcFile) {
                console.warning("there is no \(path), so no name and password are sent")
            }
            return nil
        }
        let text = try SecretSource(console: console).read("file:\(path)", what: "the netrc file")
        return text.withUnsafeBytes { NetrcFile(Array($0)) }.userAndPassword(host: host)
    }
}
