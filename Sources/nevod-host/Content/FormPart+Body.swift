import NevodHost

extension FormPart {
    /// Adds the part to a form, with the lines that curl writes, in its order.
    ///
    /// - Parameter escapesWithBackslash: whether a quote in a name becomes `\"` and not `%22` (`--form-escape`).
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
        // As curl: standard input is not a file, whatever its name.
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

    /// The lines of a file: comments are left out, and a line that begins with a space continues the one before it.
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

    /// As the HTML standard has it ("multipart/form-data encoding algorithm").
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
