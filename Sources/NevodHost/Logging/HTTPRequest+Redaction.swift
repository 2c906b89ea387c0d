internal import NevodSupport

extension HTTPRequest {
    /// The request line and header lines, safe to log. Values that a token or plugin wrote, under any name, values under names that
    /// mark them as secret (``RedactedNames/default``), and all other occurrences of these values are replaced. The lines have no line
    /// breaks.
    public var redactedHead: [String] {
        var redactor = Redactor(names: .default, request: self)
        return ["\(method) \(redactor.text(redactedTarget))"]
            + headers.map { line in "\(redactor.hidingSecrets(line.name)): \(redactor.value(of: line))" }
    }

    /// The URL with the values that a token or plugin wrote replaced.
    package var shownURL: String { "\(origin)\(redactedTarget)" }

    /// The target with the values that a token or plugin wrote replaced.
    var redactedTarget: String {
        var bytes = Array(target.utf8)
        for (range, provenance) in addedQueryItems.reversed() where provenance.writesCredentials {
            // Without "=", the whole item is secret.
            let name = bytes[range].firstIndex(of: UInt8(ascii: "=")).map { bytes[range.lowerBound...$0] } ?? []
            bytes.replaceSubrange(range, with: name + Array("[redacted: \(provenance)]".utf8))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(method) \(Redactor(names: .default, request: self).url(of: self))" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["head": redactedHead]) }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Names only: dumped headers are a common way for credentials to reach a log.
    public var description: String { "[\(map(\.name).joined(separator: ", "))]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["names": map(\.name)]) }
}
