import Glibc
import NevodHost
import NevodSupport

/// Prints the text of `--write-out` after a transfer, even after a failed one.
struct WriteOut {
    private let format: WriteOutFormat

    /// The format from standard input, which can be read only once, although each URL needs the format.
    private static let fromStandardInput = Locked<[UInt8]?>(nil)

    /// - Returns: nil without `--write-out`.
    init?(_ arguments: Arguments) throws {
        guard let text = arguments.value(.writeOut) else { return nil }
        format = WriteOutFormat(try Self.content(of: text))
    }

    private static func content(of text: String) throws -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        let file = String(text.dropFirst())
        let bytes =
            file == "-"
            ? try fromStandardInput.withLock { known in
                let bytes = try known ?? readFile("-", limit: InputLimit.setting)
                known = bytes
                return bytes
            } : try readFile(file, limit: InputLimit.setting)
        // As in curl, line breaks of a file are dropped; the format writes one as \n.
        return bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    }

    func write(_ values: WriteOutValues) throws(OutputError) {
        var output = FileDescriptor.standardOutput
        var opened: Int32?
        defer { if let opened { close(opened) } }
        for piece in format.pieces {
            switch piece {
            case .text(let bytes): try output.write(bytes.span)
            case .variable(let variable):
                try write(values[variable.name].text(inMicroseconds: variable.isInMicroseconds), to: output)
            case .header(let name): try write(values.header(String(decoding: name, as: UTF8.self)) ?? "", to: output)
            case .json: try write(values.json, to: output)
            case .headerJSON: try write(values.headerJSON, to: output, hasLines: true)
            case .unknown(let name):
                let name = String(decoding: name, as: UTF8.self)
                // As with curl, -s doesn't hide a mistake in the format.
                Console(isSilent: false, verbosity: .none).error(
                    "unknown --write-out variable: '\(name)'\(Suggestions.hint(for: name, among: WriteOutVariable.spellings))")
            case .onError: if values.failure == nil { return }
            case .standardOutput: output = .standardOutput
            case .standardError: output = FileDescriptor(number: STDERR_FILENO, name: "standard error")
            case .file(let name, let appends):
                let file = try Self.open(String(decoding: name, as: UTF8.self), appends: appends)
                if let opened { close(opened) }
                opened = file.number
                output = file
            }
        }
    }

    /// Writes a value, and makes it safe for a terminal, since a server may have chosen it.
    private func write(_ value: String, to output: FileDescriptor, hasLines: Bool = false) throws(OutputError) {
        guard isatty(output.number) == 1 else { return try output.write(Array(value.utf8).span) }
        let shown = hasLines ? TerminalFilter.safe(value) : Array(TerminalText.safe(value).utf8)
        try output.write(shown.span)
    }

    private static func open(_ path: String, appends: Bool) throws(OutputError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (appends ? O_APPEND : O_TRUNC)
        let number = Activity.during("opening \(path)") { Glibc.open(path, flags, 0o666) }
        guard number >= 0 else { throw OutputError(path, errno) }
        return FileDescriptor(number: number, name: path)
    }
}

/// The pieces of a `--write-out` format, in curl's syntax.
///
/// As in curl, anything outside the syntax is plain text: a lone percent sign, `%{` without a closing brace, `\q`.
struct WriteOutFormat: Sendable, Equatable {
    enum Piece: Sendable, Equatable {
        case text([UInt8])
        case variable(WriteOutVariable)
        /// The first value of a header line of the last response.
        case header([UInt8])
        /// An unknown name.
        case unknown([UInt8])
        /// The rest is printed only for a failed transfer.
        case onError
        /// The rest is printed there.
        case standardOutput, standardError
        case file([UInt8], appends: Bool)
        /// All variables, and all header lines of the last response.
        case json, headerJSON
    }

    private(set) var pieces: [Piece] = []
    /// The text since the last piece.
    private var text: [UInt8] = []
    /// Whether the rest has no closing brace, so that a long format isn't searched for one repeatedly.
    private var lacksBrace = false

    init(_ format: [UInt8]) {
        var rest = format[...]
        while let byte = rest.popFirst() {
            switch (byte, rest.first) {
            case (UInt8(ascii: "%"), UInt8(ascii: "%")?):
                rest.removeFirst()
                text.append(byte)
            case (UInt8(ascii: "%"), UInt8(ascii: "{")?): parseVariable(&rest)
            case (UInt8(ascii: "%"), _?) where rest.starts(with: "header{".utf8): parseNamed(&rest, "header{") { .header($0) }
            case (UInt8(ascii: "%"), _?) where rest.starts(with: "output{".utf8):
                parseNamed(&rest, "output{") { name in
                    name.starts(with: ">>".utf8) ? .file(Array(name.dropFirst(2)), appends: true) : .file(name, appends: false)
                }
            case (UInt8(ascii: "\\"), let escaped?):
                rest.removeFirst()
                text += Self.escape(escaped)
            default: text.append(byte)
            }
        }
        endText()
    }

    /// Whether the format may show certificates. libcurl collects them only if told to before it connects. When in doubt, true.
    static func mayShowCertificates(_ value: String) -> Bool {
        // A file's content isn't known yet.
        value.hasPrefix("@") || value.lowercased().contains("cert") || value.lowercased().contains("json")
    }

    private static func escape(_ byte: UInt8) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "n"): [UInt8(ascii: "\n")]
        case UInt8(ascii: "r"): [UInt8(ascii: "\r")]
        case UInt8(ascii: "t"): [UInt8(ascii: "\t")]
        default: [UInt8(ascii: "\\"), byte]
        }
    }

    private mutating func append(_ piece: Piece) {
        endText()
        pieces.append(piece)
    }

    private mutating func endText() {
        if !text.isEmpty { pieces.append(.text(text)) }
        text = []
    }

    private mutating func closingBrace(in rest: ArraySlice<UInt8>) -> Int? {
        guard !lacksBrace else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "}"))
        lacksBrace = end == nil
        return end
    }

    private mutating func parseVariable(_ rest: inout ArraySlice<UInt8>) {
        // An extension: curl would read the name only up to the first brace, and report it as unknown.
        if rest.starts(with: "{header{".utf8), let end = closingBrace(in: rest),
            rest[end...].dropFirst().first == UInt8(ascii: "}")
        {
            append(.header(Array(rest[..<end].dropFirst(8))))
            rest = rest[end...].dropFirst(2)
            return
        }
        parseNamed(&rest, "{") { Self.piece(named: $0) }
    }

    /// Parses a name up to its brace.
    private mutating func parseNamed(_ rest: inout ArraySlice<UInt8>, _ opening: String, _ piece: ([UInt8]) -> Piece) {
        let name = rest.dropFirst(opening.utf8.count)
        guard let end = closingBrace(in: name) else {
            text += Array("%\(opening)".utf8)
            rest = name
            return
        }
        append(piece(Array(name[..<end])))
        rest = name[end...].dropFirst()
    }

    private static func piece(named name: [UInt8]) -> Piece {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        switch text {
        case "onerror": return .onError
        case "stdout": return .standardOutput
        case "stderr": return .standardError
        case "json": return .json
        case "header_json": return .headerJSON
        default: return WriteOutVariable(named: text).map(Piece.variable) ?? .unknown(name)
        }
    }
}
