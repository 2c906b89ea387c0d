import NevodHost

/// The parsed value of one `-F`, in curl's syntax: `name=text`, `name=@file`, `name=@file,file`, `name=<file`. Each may end with
/// `;type=`, `;filename=`, `;headers=` and `;encoder=`.
struct FormPart {
    enum Content: Equatable {
        case text(String)
        /// Sent as the content of a field.
        case contentOf(path: String)
        /// Sent as files.
        case files([File])
    }

    /// A file, or the content of a part that isn't a file, with its options.
    struct File: Equatable {
        var path = ""
        var type: String?
        var fileName: String?
        var headers: [HeaderSource] = []
        var encoder: PartEncoder?
    }

    enum HeaderSource: Equatable {
        case line(String)
        case file(path: String)
    }

    let name: String
    let content: Content
    /// The options of a text or of `<file`.
    let options: File

    init(_ text: String) throws(UsageError) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageError("-F needs a name and a content: -F NAME=CONTENT")
        }
        name = String(decoding: text.utf8[..<equals], as: UTF8.self)
        var reader = FormPartReader(Array(text.utf8[equals...].dropFirst()))
        switch reader.next {
        case UInt8(ascii: "@"):
            var files: [File] = []
            repeat { files.append(try reader.file(endsAtComma: true)) } while reader.next == UInt8(ascii: ",")
            content = .files(files)
            options = File()
        case UInt8(ascii: "<"):
            options = try reader.file(endsAtComma: false)
            content = .contentOf(path: options.path)
        case UInt8(ascii: "(") where name.isEmpty || reader.isGroup, UInt8(ascii: ")") where name.isEmpty:
            throw UsageError("-F \(text): a form within a form, which curl writes as =( and =), is not supported")
        default:
            options = try reader.text()
            content = .text(options.path)
        }
        try reader.checkEnd(text)
    }

    /// Parses `--form-string`: no character of the text is special.
    init(literal text: String) throws(UsageError) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageError("--form-string needs a name and a text: --form-string NAME=TEXT")
        }
        name = String(decoding: text.utf8[..<equals], as: UTF8.self)
        content = .text(String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self))
        options = File()
    }
}

extension FormPart {
    /// Adds the part to a form, with curl's header lines in curl's order.
    ///
    /// - Parameter escapesWithBackslash: whether a quote in a name becomes `\"` instead of `%22` (`--form-escape`).
    func add(to form: inout MultipartForm, escapesWithBackslash: Bool) throws {
        let escape = escapesWithBackslash ? Self.backslashed : Self.percentEscaped
        let field = name.isEmpty ? "form-data" : "form-data; name=\"\(escape(name))\""
        switch content {
        case .text(let text):
            let type = options.fileName.flatMap(FileType.type)
            try Self.add(options, .bytes(Array(text.utf8)), field, type: type, to: &form, escape)
        case .contentOf(let path):
            let content = HTTPBody.bytes(try readFile(path, limit: InputLimit.content))
            try Self.add(options, content, field, type: options.fileName.flatMap(FileType.type), to: &form, escape)
        case .files(let files):
            guard files.count > 1 else {
                for file in files { try Self.add(file: file, field, to: &form, escape) }
                return
            }
            var nested = MultipartForm()
            for file in files { try Self.add(file: file, "attachment", to: &nested, escape) }
            let type = nested.contentType.split(separator: ";", maxSplits: 1).last ?? ""
            try form.add(
                lines: ["Content-Disposition: \(field)", "Content-Type: multipart/mixed;\(type)"],
                nested.body)
        }
    }

    private static func add(
        file: File, _ disposition: String, to form: inout MultipartForm, _ escape: (String) -> String
    ) throws {
        let content =
            file.path == "-" ? HTTPBody.bytes(try readFile("-", limit: InputLimit.content)) : try HTTPBody.file(file.path)
        var named = file
        named.fileName = file.fileName ?? file.path.split(separator: "/").last.map(String.init) ?? file.path
        // As in curl, standard input isn't a file, even if it is given a name.
        let other = file.path == "-" ? nil : FileType.type(of: file.path) ?? "application/octet-stream"
        let type = FileType.type(of: named.fileName ?? "") ?? other
        try add(named, content, disposition, type: type, to: &form, escape)
    }

    private static func add(
        _ options: File, _ content: HTTPBody, _ disposition: String, type: String?, to form: inout MultipartForm,
        _ escape: (String) -> String
    ) throws {
        var lines = ["Content-Disposition: \(disposition)" + (options.fileName.map { "; filename=\"\(escape($0))\"" } ?? "")]
        if let type = options.type ?? type { lines.append("Content-Type: \(type)") }
        var content = content
        if let encoder = options.encoder {
            lines.append("Content-Transfer-Encoding: \(encoder.rawValue)")
            if !encoder.keepsContent { content = .bytes(try encoder.encoded(try bytes(of: content, options.path))) }
        }
        lines += try options.headers.flatMap(Self.headerLines)
        try form.add(lines: lines, content)
    }

    private static func bytes(of content: HTTPBody, _ path: String) throws -> [UInt8] {
        if case .bytes(let bytes) = content { return bytes }
        return try readFile(path, limit: InputLimit.content)
    }

    /// Returns the lines of a source. In a file, comments are left out, and a line that begins with a space continues the line
    /// before.
    private static func headerLines(_ source: HeaderSource) throws -> [String] {
        guard case .file(let path) = source else {
            if case .line(let line) = source { return line.isEmpty ? [] : [line] }
            return []
        }
        var lines: [String] = []
        for line in try readFile(path, limit: InputLimit.headers).split(separator: UInt8(ascii: "\n")) {
            var text = String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
            while text.last == " " { text.removeLast() }
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            if text.hasPrefix(" "), let last = lines.indices.last {
                lines[last] += " " + text.drop { $0 == " " }
            } else {
                lines.append(text)
            }
        }
        return lines
    }

    /// Escapes as the HTML standard does ("multipart/form-data encoding algorithm").
    private static func percentEscaped(_ name: String) -> String {
        name.unicodeScalars.map { scalar in
            switch scalar {
            case "\"": "%22"
            case "\r": "%0D"
            case "\n": "%0A"
            default: String(scalar)
            }
        }.joined()
    }

    private static func backslashed(_ name: String) -> String {
        name.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }
}

/// The media types that curl knows by the extension of a file's name.
enum FileType {
    private static let types = [
        (".gif", "image/gif"), (".jpg", "image/jpeg"), (".jpeg", "image/jpeg"), (".png", "image/png"), (".svg", "image/svg+xml"),
        (".txt", "text/plain"), (".htm", "text/html"), (".html", "text/html"), (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ]

    /// Returns nil for any other name.
    static func type(of name: String) -> String? {
        let name = name.lowercased()
        return types.first { name.hasSuffix($0.0) }?.1
    }
}
