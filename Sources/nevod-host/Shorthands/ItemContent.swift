import NevodHost
import NevodSupport

/// The query and the content that items make: JSON, a form, a form with files, or one file.
struct ItemContent {
    private(set) var body = HTTPBody.none
    private(set) var type: String?
    private(set) var accept = "*/*"

    /// The value of Accept. It allows other formats, because a server's error may not be JSON.
    private static let acceptJSON = "application/json, */*;q=0.5"

    /// - Parameter asForm: whether to make a form instead of JSON.
    init(_ items: [RequestItem], asForm: Bool) throws {
        let items = items.filter(\.kind.isContent)
        if let whole = items.first(where: { $0.kind == .file && $0.name.isEmpty }) {
            guard items.count == 1 else {
                throw UsageError(
                    "@\(whole.value) is the whole content, so no other item can be a part of it; write NAME@\(whole.value)")
            }
            body = try .file(whole.value)
            type = MediaType.ofFile(whole.value)
            accept = Self.acceptJSON
        } else if items.contains(where: { $0.kind == .file }) {
            try setMultipart(items)
        } else if asForm {
            body = .bytes(try Self.form(items))
            type = "application/x-www-form-urlencoded; charset=utf-8"
        } else {
            var document = ItemJSON()
            for item in items { try document.add(item) }
            body = .bytes(document.bytes)
            type = "application/json"
            accept = Self.acceptJSON
        }
    }

    /// Returns the query, as a form (`name=value&…`); nil without items for it.
    static func query(_ items: [RequestItem]) throws -> [UInt8]? {
        let items = items.filter { $0.kind == .query || $0.kind == .queryFile }
        return items.isEmpty ? nil : try form(items)
    }

    private static func form(_ items: [RequestItem]) throws -> [UInt8] {
        var bytes: [UInt8] = []
        for item in items {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            bytes += RequestContent.formEncoded(item.name) + [UInt8(ascii: "=")] + RequestContent.formEncoded(try formText(item))
        }
        return bytes
    }

    private static func formText(_ item: RequestItem) throws -> String {
        guard item.kind == .json || item.kind == .jsonFile else { return try item.text() }
        let text = try item.text()
        switch try ItemJSON.value(text, of: item) {
        case .string(let string): return string
        case .array, .object:
            throw UsageError(
                "the item \"\(item.name):=…\" is a list or an object, which a form can't hold; leave out --as-form and files")
        default: return String(decoding: ItemJSON.formatted(Array(text.utf8)), as: UTF8.self)
        }
    }

    private mutating func setMultipart(_ items: [RequestItem]) throws {
        var form = MultipartForm()
        for item in items {
            guard item.kind == .file else {
                try form.add(item.name, .bytes(Array(try Self.formText(item).utf8)))
                continue
            }
            let (path, type) = Self.typed(item.value)
            let base = path.split(separator: "/").last.map(String.init) ?? path
            try form.add(item.name, try .file(path), fileName: base, contentType: type ?? MediaType.ofFile(path))
        }
        body = form.body
        type = form.contentType
    }

    /// Splits `;type=…` from a path.
    private static func typed(_ value: String) -> (path: String, type: String?) {
        guard let mark = value.utf8.lastIndex(of: UInt8(ascii: ";")), value[mark...].hasPrefix(";type=") else {
            return (value, nil)
        }
        return (String(value[..<mark]), String(value[mark...].dropFirst(6)))
    }
}

/// The media types of files, by their extensions.
enum MediaType {
    private static let types: [(end: String, type: String)] = [
        ("csv", "text/csv"), ("gif", "image/gif"), ("gz", "application/gzip"), ("html", "text/html"), ("jpeg", "image/jpeg"),
        ("jpg", "image/jpeg"), ("js", "text/javascript"), ("json", "application/json"), ("pdf", "application/pdf"),
        ("png", "image/png"), ("svg", "image/svg+xml"), ("txt", "text/plain"), ("xml", "application/xml"),
        ("zip", "application/zip"),
    ]

    /// Returns the type of a file; nil if its name doesn't tell.
    static func ofFile(_ path: String) -> String? {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? Substring(path).utf8
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let end = String(decoding: name[dot...].dropFirst(), as: UTF8.self).lowercased()
        return types.first { $0.end == end }?.type
    }
}
