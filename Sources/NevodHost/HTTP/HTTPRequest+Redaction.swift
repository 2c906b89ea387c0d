internal import NevodSupport

extension HTTPRequest {
    /// The request line and header lines, safe to log. Values that a token or plugin wrote, under any name, and values of
    /// credential fields are replaced. The lines have no line breaks.
    public var redactedHead: [String] {
        ["\(method) \(redactedTarget)"]
            + headers.map { line in
                let isSecret = line.provenance.writesCredentials || SecretNames.requestFields.contains(line.name.lowercased())
                let note = line.provenance.writesCredentials ? "[redacted: \(line.provenance)]" : "[redacted]"
                return "\(line.name): \(isSecret ? note : line.value)"
            }
    }

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
    public var description: String { "\(method) \(origin)\(redactedTarget)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["head": redactedHead]) }
}

extension HTTPHeaders: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Names only: dumped headers are a common way for credentials to reach a log.
    public var description: String { "[\(map(\.name).joined(separator: ", "))]" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["names": map(\.name)]) }
}
