import NevodHost
import NevodSupport

/// The secrets that files of flags (`-K`) hold as texts. In the arguments stands a source in place of each, so that a value that was
/// typed is never taken for one from a file.
enum FileSecrets {
    private static let secrets = Locked<[String: Secret]>([:])

    /// Whether a value of a flag such as `-u` holds the secret itself, and not its source. A name without a password is none.
    static func isSecret(_ value: String, of name: Flag.Name) -> Bool {
        (name == .bearer || value.utf8.contains(UInt8(ascii: ":"))) && !SecretSource.isSource(value)
    }

    /// Returns the source of a value.
    ///
    /// - Parameter place: the file and the line.
    static func keep(_ value: String, of place: String) -> String {
        let source = "\(place) of -K"
        secrets.withLock { $0[source] = Secret(copying: Array(value.utf8)) }
        return source
    }

    /// Marks a header line as one of a file. It stays a text, by whose name it replaces others.
    static func mark(headerLine line: String) { lines.withLock { _ = $0.insert(line) } }

    /// Whether a header line comes from a file.
    static func isMarked(headerLine line: String) -> Bool { lines.withLock { $0.contains(line) } }

    private static let lines = Locked<Set<String>>([])

    /// Returns the secret of a source; nil for any other text.
    static func secret(_ source: String) -> Secret? { secrets.withLock { $0[source] } }
}
