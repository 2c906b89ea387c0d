/// The format of `--write-out`, in curl's syntax, as pieces.
///
/// Anything outside of the syntax is a text of its own, as for curl: a lone percent sign, `%{` without its end, `\q`.
struct WriteOutFormat: Sendable, Equatable {
    enum Piece: Sendable, Equatable {
        case text([UInt8])
        case variable(WriteOutVariable)
        /// The first value of a header line of the last response.
        case header([UInt8])
        /// A name that is not known.
        case unknown([UInt8])
        /// The rest is only for a transfer that failed.
        case onError
        /// The rest goes there.
        case standardOutput, standardError
        case file([UInt8], appends: Bool)
        /// All variables, and all header lines of the last response.
        case json, headerJSON
    }

    private(set) var pieces: [Piece] = []
    /// The text since the last piece.
    private var text: [UInt8] = []
    /// Whether no brace closes in the rest, so that a long format isn't searched for one again and again.
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

    /// Whether the format shows certificates, which libcurl collects only when told to before it connects. Errs on the safe side.
    static func mayShowCertificates(_ value: String) -> Bool {
        // Only a file's content says so.
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
        // An extension: curl takes the name up to the first brace, and knows it not.
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
