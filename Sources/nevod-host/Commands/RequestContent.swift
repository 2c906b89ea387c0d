import Glibc
import NevodHost
import NevodSupport

/// The content of a request, from one of the `-d` family, `--json`, `-F` or `-T`.
struct RequestContent {
    private(set) var body = HTTPBody.none
    private(set) var method = HTTPMethod.get
    private(set) var type: String?
    private(set) var accept = "*/*"
    /// The data that `-G` moves into the query.
    private(set) var query: [UInt8]?

    init(arguments: Arguments) throws {
        let kinds: [(flag: String, isGiven: Bool)] = [
            ("-d", [.data, .dataBinary, .dataURLEncode].contains { arguments.has($0) }), ("--json", arguments.has(.jsonData)),
            ("-F", arguments.has(.form)), ("-T", arguments.has(.uploadFile)),
        ]
        let given = kinds.filter(\.isGiven).map(\.flag)
        guard given.count <= 1 else { throw UsageError("\(given.joined(separator: " and ")) can't be combined") }
        switch given.first {
        case "-d": try setData(Self.data(arguments), inQuery: arguments.has(.get))
        case "--json": try setJSON(arguments.values(.jsonData))
        case "-F": try setForm(arguments.values(.form))
        case "-T": try setUpload(arguments.value(.uploadFile) ?? "-")
        default: break
        }
    }

    private mutating func setData(_ bytes: [UInt8], inQuery: Bool) {
        guard !inQuery else {
            query = bytes
            return
        }
        body = .bytes(bytes)
        method = .post
        type = "application/x-www-form-urlencoded"
    }

    private mutating func setJSON(_ values: [String]) throws {
        var bytes: [UInt8] = []
        for value in values {
            bytes += value.hasPrefix("@") ? try Self.content(String(value.dropFirst())) : Array(value.utf8)
        }
        body = .bytes(bytes)
        method = .post
        type = "application/json"
        accept = "application/json"
    }

    private mutating func setUpload(_ path: String) throws {
        method = .put
        body = path == "-" ? Self.standardInput : try .file(path)
    }

    private mutating func setForm(_ values: [String]) throws {
        var form = MultipartForm()
        for value in values { try FormPart(value).add(to: &form) }
        method = .post
        type = form.contentType
        body = form.body
    }

    /// Not replayable, and of unknown length.
    private static let standardInput = HTTPBody.stream(
        HTTPBodyStream(length: nil, isReplayable: false) { StandardInputReader() })

    private static func content(_ path: String) throws(InputError) -> [UInt8] {
        try readFile(path, limit: InputLimit.content)
    }

    private static func data(_ arguments: Arguments) throws -> [UInt8] {
        var pieces: [[UInt8]] = []
        for (name, value) in arguments.flags {
            switch name {
            case .data:
                pieces.append(
                    value.hasPrefix("@")
                        ? try content(String(value.dropFirst())).filter { $0 != 10 && $0 != 13 && $0 != 0 } : Array(value.utf8))
            case .dataBinary: pieces.append(value.hasPrefix("@") ? try content(String(value.dropFirst())) : Array(value.utf8))
            case .dataURLEncode: pieces.append(try encoded(value))
            default: break
            }
        }
        return Array(pieces.joined(separator: [UInt8(ascii: "&")]))
    }

    /// Parses a value as curl does: TEXT, =TEXT, NAME=TEXT, @FILE, NAME@FILE.
    private static func encoded(_ value: String) throws -> [UInt8] {
        guard let mark = value.utf8.firstIndex(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else {
            return PercentEncoding.queryItem(value.utf8)
        }
        let name = Array(value.utf8[..<mark])
        let rest = String(decoding: value.utf8[mark...].dropFirst(), as: UTF8.self)
        let content = value.utf8[mark] == UInt8(ascii: "=") ? Array(rest.utf8) : try content(rest)
        return name + (name.isEmpty ? [] : [UInt8(ascii: "=")]) + PercentEncoding.queryItem(content)
    }
}

/// Reads standard input in the pieces in which it arrives.
private final class StandardInputReader: HTTPBodyReader {
    func read(upTo count: Int) async throws -> [UInt8] {
        // Reads on a thread that may block: the transfer's thread handles timeouts and the response.
        try await Task.detached { try FileDescriptor.standardInput.readSome(upTo: count) }.value
    }
}
