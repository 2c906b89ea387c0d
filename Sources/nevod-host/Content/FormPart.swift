import NevodHost

/// The parsed value of one `-F`, in curl's syntax: `name=text`, `name=@file`, `name=@file,file`, `name=<file`, each with `;type=`,
/// `;filename=`, `;headers=` and `;encoder=` behind it.
struct FormPart {
    enum Content: Equatable {
        case text(String)
        /// Sent as the content of a field.
        case contentOf(path: String)
        /// Sent as files.
        case files([File])
    }

    /// A file, or the one part that isn't a file, with what follows it.
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
    /// The parameters behind a text, or `<file`.
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

    /// `--form-string`: nothing in the text has a meaning.
    init(literal text: String) throws(UsageError) {
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageError("--form-string needs a name and a text: --form-string NAME=TEXT")
        }
        name = String(decoding: text.utf8[..<equals], as: UTF8.self)
        content = .text(String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self))
        options = File()
    }
}
