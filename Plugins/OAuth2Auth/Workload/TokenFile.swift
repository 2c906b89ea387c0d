internal import CTokenFile
internal import NevodPluginKit
internal import NevodSupport

/// A file with a token that something else renews: the kubelet, a CI runner, an agent. Read anew each time, so that a rotated
/// token is found; symbolic links are followed, since Kubernetes replaces a token by changing a link.
///
/// The one place where a plugin reads a file: a setting's source is read once, when the program starts.
struct TokenFile: Sendable {
    let path: String
    private let setting: String

    /// The largest file in bytes.
    private static let mostBytes = 64 << 10

    init(_ path: String, setting: String) throws(SchemeError) {
        // Of a relative path it would depend on the moment which file it is.
        guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
            throw .badSetting(setting, "must be an absolute path")
        }
        self.path = path
        self.setting = setting
    }

    /// The file's text without white space at its ends.
    ///
    /// - Throws: ``SchemeError/badSetting(_:_:)``, which keeps a stored token, if the file can't be used.
    func read() throws(SchemeError) -> Secret {
        typealias Reading = Result<Secret, SchemeError>
        let result = withUnsafeTemporaryAllocation(byteCount: Self.mostBytes, alignment: 1) { memory -> Reading in
            defer { memory.wipe() }
            guard let start = memory.baseAddress else { return .failure(.internal("no memory for a file")) }
            let file = path.withCString {
                nevod_token_file_read($0, start.assumingMemoryBound(to: UInt8.self), UInt64(memory.count))
            }
            guard Int(file.status) == NEVOD_TOKEN_FILE_READ, file.count <= UInt64(memory.count) else {
                return .failure(.badSetting(setting, "names a file that \(Self.problem(of: file)): \(path)"))
            }
            let text = Self.trimmed(UnsafeRawBufferPointer(rebasing: memory[..<Int(file.count)]))
            guard !text.isEmpty, text.count <= StoredToken.mostTokenBytes, text.allSatisfy({ $0 >= 0x21 && $0 < 0x7F }) else {
                return .failure(
                    .badSetting(setting, "names a file that doesn't hold a token, one line of visible ASCII: \(path)"))
            }
            return .success(Secret(copying: text))
        }
        return try result.get()
    }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) }) else {
            return UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return UnsafeRawBufferPointer(rebasing: text[first...last])
    }

    /// Completes the sentence "names a file that …".
    private static func problem(of file: nevod_token_file) -> String {
        let mode = "0\(String(file.mode, radix: 8))"
        return switch Int(file.status) {
        case NEVOD_TOKEN_FILE_MISSING: "doesn't exist"
        case NEVOD_TOKEN_FILE_CLOSED: "this user may not read"
        case NEVOD_TOKEN_FILE_IRREGULAR: "is not a regular file"
        case NEVOD_TOKEN_FILE_FOREIGN: "belongs to user \(file.owner), and neither to this user nor to root"
        case NEVOD_TOKEN_FILE_WRITABLE: "other users may write (mode \(mode); chmod go-w forbids it)"
        case NEVOD_TOKEN_FILE_TOO_LARGE: "has more than \(mostBytes) bytes"
        default: "can't be read (error \(file.error))"
        }
    }
}
