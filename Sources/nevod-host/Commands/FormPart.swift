import NevodHost

/// One `-F`: `name=text`, `name=@file` (uploaded under its name) or `name=<file` (its content as text), optionally followed by
/// `;type=` and `;filename=`.
struct FormPart {
    private let name: String
    private let content: String
    private var type: String?
    private var fileName: String?

    init(_ text: String) throws(UsageError) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), equals > text.startIndex else {
            throw UsageError("-F needs a name and a content: -F NAME=CONTENT")
        }
        name = String(text[..<equals])
        var rest = String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self)
        // Options are read from the end, so that a semicolon within a text stays.
        while let mark = rest.utf8.lastIndex(of: UInt8(ascii: ";")) {
            let option = String(decoding: rest.utf8[mark...].dropFirst(), as: UTF8.self)
            if option.hasPrefix("type=") {
                type = String(option.dropFirst(5))
            } else if option.hasPrefix("filename=") {
                fileName = String(option.dropFirst(9))
            } else {
                break
            }
            rest = String(rest[..<mark])
        }
        content = rest
    }

    func add(to form: inout MultipartForm) throws {
        let path = String(content.dropFirst())
        if content.hasPrefix("@") {
            let body = path == "-" ? HTTPBody.bytes(try readFile("-", limit: InputLimit.content)) : try HTTPBody.file(path)
            let base = path.split(separator: "/").last.map(String.init) ?? path
            try form.add(name, body, fileName: fileName ?? base, contentType: type ?? "application/octet-stream")
        } else if content.hasPrefix("<") {
            try form.add(name, .bytes(try readFile(path, limit: InputLimit.content)), fileName: fileName, contentType: type)
        } else {
            try form.add(name, .bytes(Array(content.utf8)), fileName: fileName, contentType: type)
        }
    }
}
