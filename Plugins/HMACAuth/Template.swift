internal import NevodPluginKit
internal import NevodSupport

/// A text with placeholders, parsed once: `{method}\n{path}`.
///
/// `\n`, `\r`, `\t` and `\\` are the usual escapes, because a line break is hard to type on a command line. A literal brace is `{{` or
/// `\{`.
struct Template<Placeholder: TemplatePlaceholder>: Sendable {
    enum Part: Sendable, Equatable {
        /// A range of ``bytes``.
        case literal(Range<Int>)
        case placeholder(Placeholder)
    }

    let parts: [Part]
    /// The bytes that the parts refer to. Parts without memory of their own cost a request no reference counting.
    let bytes: [UInt8]

    /// Parses a text.
    ///
    /// - Parameter setting: the name of the text's setting, for errors.
    init(_ setting: String, _ text: String) throws(SchemeError) {
        var parts: [Part] = []
        var bytes: [UInt8] = []
        var taken = 0
        func endLiteral() {
            if taken < bytes.count { parts.append(.literal(taken..<bytes.count)) }
        }
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst(), let meant = Self.escapes[escaped] else {
                    throw .badSetting(setting, #"has a \ before a character other than n, r, t, \, { or }"#)
                }
                bytes.append(meant)
            case UInt8(ascii: "{") where rest.first == byte, UInt8(ascii: "}") where rest.first == byte:
                bytes.append(rest.removeFirst())
            case UInt8(ascii: "{"):
                guard let end = rest.firstIndex(of: UInt8(ascii: "}")) else {
                    throw .badSetting(setting, "has a { without its }; write {{ for a literal one")
                }
                endLiteral()
                let name = String(decoding: rest[..<end], as: UTF8.self)
                guard let placeholder = Placeholder(name: name, at: bytes.count) else {
                    let valid = Placeholder.names.map { "{\($0)}" }.joined(separator: ", ")
                    throw .badSetting(setting, "has the unknown placeholder {\(name.prefix(64))}; there are \(valid)")
                }
                parts.append(.placeholder(placeholder))
                bytes += rest[..<end]
                taken = bytes.count
                rest = rest[(end + 1)...]
            case UInt8(ascii: "}"):
                throw .badSetting(setting, "has a } without its {; write }} for a literal one")
            default:
                bytes.append(byte)
            }
        }
        endLiteral()
        self.parts = parts
        self.bytes = bytes
    }

    private static var escapes: [UInt8: UInt8] {
        [
            UInt8(ascii: "n"): UInt8(ascii: "\n"), UInt8(ascii: "r"): UInt8(ascii: "\r"), UInt8(ascii: "t"): UInt8(ascii: "\t"),
            UInt8(ascii: "\\"): UInt8(ascii: "\\"), UInt8(ascii: "{"): UInt8(ascii: "{"), UInt8(ascii: "}"): UInt8(ascii: "}"),
        ]
    }

    func contains(_ placeholder: Placeholder) -> Bool {
        parts.contains(.placeholder(placeholder))
    }

    func contains(where matches: (Placeholder) -> Bool) -> Bool {
        parts.contains { if case .placeholder(let placeholder) = $0 { matches(placeholder) } else { false } }
    }

    var placeholderCount: Int { parts.count { if case .placeholder = $0 { true } else { false } } }
}

protocol TemplatePlaceholder: Sendable, Equatable {
    /// Reads a placeholder's name.
    ///
    /// - Parameter start: the offset of the name's bytes in the template's.
    init?(name: String, at start: Int)
    /// The names that may stand between braces, for messages.
    static var names: [String] { get }
}

/// The parts of a request that can be signed.
enum MessagePlaceholder: TemplatePlaceholder {
    case method, path, decodedPath, target, query, sortedQuery, host, scheme, timestamp, nonce, key, body, bodyHash
    /// A header's value. The range is that of its name in the template's bytes.
    case header(Range<Int>)

    private static let plain: [(name: String, placeholder: MessagePlaceholder)] = [
        ("method", .method), ("path", .path), ("path:decoded", .decodedPath), ("target", .target), ("query", .query),
        ("query:sorted", .sortedQuery), ("host", .host), ("scheme", .scheme), ("timestamp", .timestamp), ("nonce", .nonce),
        ("key", .key), ("body", .body), ("body-hash", .bodyHash),
    ]

    static var names: [String] { plain.map { $0.name } + ["header:NAME"] }

    init?(name: String, at start: Int) {
        if let known = Self.plain.first(where: { $0.name == name }) {
            self = known.placeholder
            return
        }
        let header = name.utf8.dropFirst(7)
        guard name.hasPrefix("header:"), !header.isEmpty, header.allSatisfy({ $0.isTokenByte }) else { return nil }
        self = .header(start + 7..<start + name.utf8.count)
    }

    var isHeader: Bool { if case .header = self { true } else { false } }
}

/// The parts of the text that is sent as the signature.
enum ValuePlaceholder: String, CaseIterable, TemplatePlaceholder {
    case signature, key, timestamp, nonce
    case bodyHash = "body-hash"

    static var names: [String] { allCases.map { $0.rawValue } }

    init?(name: String, at start: Int) {
        self.init(rawValue: name)
    }
}
