import Glibc
import NevodHost
import NevodSupport

/// The content of a request, from one of the `-d` family, `--json`, `-F` or `-T`.
struct RequestContent {
    private(set) var body = HTTPBody.none
    private(set) var method = HTTPMethod.get
    private(set) var type: String?
    private(set) var accept = "*/*"
    /// The data that `-G` moves into the query, and the data of `--url-query`.
    private(set) var query: [UInt8]?
    /// The file name that `-T` appends to a URL that ends with a slash.
    private(set) var uploadName: String?

    init(arguments: Arguments) throws {
        let kinds: [(flag: String, isGiven: Bool)] = [
            ("-d", Self.dataFlags.contains { arguments.has($0) }), ("--json", arguments.has(.jsonData)),
            ("-F", arguments.has(.form) || arguments.has(.formString)), ("-T", arguments.has(.uploadFile)),
            ("items such as NAME=VALUE", arguments.items.contains(where: \.kind.isContent)),
        ]
        let given = kinds.filter(\.isGiven).map(\.flag)
        guard given.count <= 1 else { throw UsageError("\(given.joined(separator: " and ")) can't be combined") }
        switch given.first {
        case "-d": try setData(Self.data(arguments), inQuery: arguments.has(.get))
        case "--json": try setJSON(arguments.values(.jsonData))
        case "-F": try setForm(arguments)
        case "-T": try setUpload(arguments.value(.uploadFile) ?? "-")
        case nil: break
        default: try setItems(arguments.items, asForm: arguments.has(.asForm))
        }
        let queries = try arguments.values(.urlQuery).map(Self.queryPart)
        if !queries.isEmpty { query = Array(((query.map { [$0] } ?? []) + queries).joined(separator: [UInt8(ascii: "&")])) }
    }

    private static let dataFlags: [Flag.Name] = [.data, .dataASCII, .dataRaw, .dataBinary, .dataURLEncode]

    /// Parses `--url-query`: like `--data-urlencode`, or unchanged after a plus.
    private static func queryPart(_ value: String) throws -> [UInt8] {
        value.hasPrefix("+") ? Array(value.utf8.dropFirst()) : try encoded(value)
    }

    private mutating func setItems(_ items: [RequestItem], asForm: Bool) throws {
        let content = try ItemContent(items, asForm: asForm)
        body = content.body
        method = .post
        type = content.type
        accept = content.accept
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
        if path != "-" { uploadName = path.split(separator: "/").last.map(String.init) }
        body = path == "-" ? Self.standardInput : try .file(path)
    }

    private mutating func setForm(_ arguments: Arguments) throws {
        var form = MultipartForm()
        for (name, value) in arguments.flags where name == .form || name == .formString {
            let part = try name == .form ? FormPart(value) : FormPart(literal: value)
            try part.add(to: &form, escapesWithBackslash: arguments.has(.formEscape))
        }
        method = .post
        type = form.contentType
        body = form.body
    }

    private static func content(_ path: String) throws(InputError) -> [UInt8] {
        try readFile(path, limit: InputLimit.content)
    }

    private static func data(_ arguments: Arguments) throws -> [UInt8] {
        var pieces: [[UInt8]] = []
        for (name, value) in arguments.flags {
            switch name {
            case .data, .dataASCII:
                pieces.append(
                    value.hasPrefix("@")
                        ? try content(String(value.dropFirst())).filter { $0 != 10 && $0 != 13 && $0 != 0 } : Array(value.utf8))
            case .dataRaw: pieces.append(Array(value.utf8))
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
            return formEncoded(value)
        }
        let name = Array(value.utf8[..<mark])
        let rest = String(decoding: value.utf8[mark...].dropFirst(), as: UTF8.self)
        let content = value.utf8[mark] == UInt8(ascii: "=") ? Array(rest.utf8) : try content(rest)
        return name + (name.isEmpty ? [] : [UInt8(ascii: "=")]) + formEncoded(content)
    }

    /// Encodes text as a form does, with a plus for a space.
    static func formEncoded(_ text: String) -> [UInt8] { formEncoded(Array(text.utf8)) }

    private static func formEncoded(_ text: [UInt8]) -> [UInt8] {
        Array(
            text.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
                .map { PercentEncoding.queryItem($0) }.joined(separator: [UInt8(ascii: "+")]))
    }
}
