import NevodHost
import NevodSupport

/// The JSON document that items build, in order. `a[b]=c` sets a member, `a[]=c` appends an element, and `a[1]=c` sets an
/// element.
struct ItemJSON {
    private indirect enum Node {
        /// Encoded JSON that no item can add to.
        case text([UInt8])
        /// The encoded JSON of the `:=` item of that name. No item can add to it either.
        case whole([UInt8], String)
        case array([Node])
        case object([(name: String, value: Node)])
        /// A place without a value yet.
        case nothing

        var name: String {
            switch self {
            case .text, .whole, .nothing: "a value"
            case .array: "a list"
            case .object: "an object"
            }
        }
    }

    private enum Step: Equatable {
        case member(String)
        case element(Int)
        case append

        /// The kind of node that this step leads into.
        var container: String { if case .member = self { "an object" } else { "a list" } }
    }

    /// Nobody types a larger index on purpose, and the elements before it are filled with null.
    private static let largestIndex = 9999
    private static let deepest = 64

    private var root = Node.nothing

    mutating func add(_ item: RequestItem) throws {
        let text = try item.text()
        let isJSON = item.kind == .json || item.kind == .jsonFile
        if isJSON { _ = try Self.value(text, of: item) }
        let value: Node = isJSON ? .whole(Self.formatted(Array(text.utf8)), item.name) : .text(Self.quoted(text))
        let steps = try Self.steps(item.name)
        try Self.set(value, at: steps[...], in: &root, item.name)
    }

    /// The document as Python writes it, because that is what servers get from HTTPie: with a space after `:` and `,`, and in
    /// ASCII.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        Self.write(root, to: &bytes)
        return bytes
    }

    /// Parses the value of a `:=` item.
    static func value(_ text: String, of item: RequestItem) throws(UsageError) -> JSONValue {
        do throws(JSONError) {
            return try JSONValue(parsing: Array(text.utf8).span, size: InputLimit.content, depth: deepest)
        } catch {
            throw UsageError(
                "the value of the item \"\(item.name):=\" is not JSON: \(error); a text is written \(item.name)=TEXT")
        }
    }

    // MARK: Names

    private static func steps(_ name: String) throws(UsageError) -> [Step] {
        var steps: [Step] = []
        var rest = name.utf8[...]
        let first = try text(&rest, name)
        if !first.text.isEmpty || rest.isEmpty { steps.append(.member(first.text)) }
        while rest.popFirst() == UInt8(ascii: "[") {
            let inner = try text(&rest, name)
            guard rest.popFirst() == UInt8(ascii: "]") else {
                throw UsageError("the item \"\(name)\" has a [ without ]; write \\[ for a plain [")
            }
            if inner.text.isEmpty {
                steps.append(.append)
            } else if !inner.isEscaped, inner.text.utf8.allSatisfy(\.isDigit) {
                guard let index = Int(inner.text), index <= largestIndex else {
                    throw UsageError("the item \"\(name)\" has an index above \(largestIndex)")
                }
                steps.append(.element(index))
            } else {
                steps.append(.member(inner.text))
            }
            guard rest.isEmpty || rest.first == UInt8(ascii: "[") else {
                throw UsageError("the item \"\(name)\" has text after ]; write \\] for a plain ]")
            }
        }
        guard steps.count <= deepest else { throw UsageError("the item \"\(name)\" is nested more than \(deepest) deep") }
        return steps
    }

    /// Reads up to the first bracket without a backslash before it.
    private static func text(_ rest: inout Substring.UTF8View, _ name: String) throws(UsageError) -> (
        text: String, isEscaped: Bool
    ) {
        var bytes: [UInt8] = []
        var isEscaped = false
        while let byte = rest.first, byte != UInt8(ascii: "["), byte != UInt8(ascii: "]") {
            rest.removeFirst()
            if byte == UInt8(ascii: "\\"), let next = rest.first, "[]\\0123456789".utf8.contains(next) {
                isEscaped = true
                bytes.append(next)
                rest.removeFirst()
            } else {
                bytes.append(byte)
            }
        }
        return (String(decoding: bytes, as: UTF8.self), isEscaped)
    }

    private static func set(_ value: Node, at steps: ArraySlice<Step>, in node: inout Node, _ name: String) throws(UsageError) {
        guard let step = steps.first else {
            node = value
            return
        }
        let rest = steps.dropFirst()
        switch (step, node) {
        case (.member(let key), .nothing): node = .object([(key, .nothing)])
        case (.member(let key), .object(var members)):
            if !members.contains(where: { $0.name == key }) {
                members.append((key, .nothing))
                node = .object(members)
            }
        case (.append, .nothing): node = .array([.nothing])
        case (.append, .array(let elements)): node = .array(elements + [.nothing])
        case (.element(let index), .nothing): node = .array(Array(repeating: .nothing, count: index + 1))
        case (.element(let index), .array(let elements)):
            if index >= elements.count { node = .array(elements + Array(repeating: .nothing, count: index + 1 - elements.count)) }
        case (_, .whole(_, let given)):
            throw UsageError(
                "\"\(given)\" was given whole by :=, so the item \"\(name)\" can't add to it; put it into that value")
        default:
            throw UsageError("the item \"\(name)\" adds to \(node.name) what only \(step.container) can hold")
        }
        switch (step, node) {
        case (.member(let key), .object(var members)):
            guard let place = members.lastIndex(where: { $0.name == key }) else { return }
            try set(value, at: rest, in: &members[place].value, name)
            node = .object(members)
        case (let step, .array(var elements)):
            let place = if case .element(let index) = step { index } else { elements.count - 1 }
            guard elements.indices.contains(place) else { return }
            try set(value, at: rest, in: &elements[place], name)
            node = .array(elements)
        default: break
        }
    }

    // MARK: Writing

    private static func write(_ node: Node, to bytes: inout [UInt8]) {
        switch node {
        case .nothing: bytes += "null".utf8
        case .text(let text), .whole(let text, _): bytes += text
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes += ", ".utf8 }
                write(element, to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes += ", ".utf8 }
                bytes += quoted(member.name) + ": ".utf8
                write(member.value, to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// Rewrites valid JSON in the same form; numbers stay as typed.
    static func formatted(_ document: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        var lexer = JSONLexer(document.span)
        while let token = try? lexer.next(), token != .end {
            switch token {
            case .beginArray: bytes.append(UInt8(ascii: "["))
            case .endArray: bytes.append(UInt8(ascii: "]"))
            case .beginObject: bytes.append(UInt8(ascii: "{"))
            case .endObject: bytes.append(UInt8(ascii: "}"))
            case .colon: bytes += ": ".utf8
            case .comma: bytes += ", ".utf8
            case .string(let range):
                let text = try? JSONValue(parsing: Array(document[range]).span, size: range.count, depth: 1).string
                bytes += quoted(text ?? "")
            case .number(let range), .literal(let range): bytes += document[range]
            case .end: break
            }
        }
        return bytes
    }

    private static func quoted(_ text: String) -> [UInt8] {
        var bytes = [UInt8(ascii: "\"")]
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: bytes += [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: unit)]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0x20..<0x7F: bytes.append(UInt8(truncatingIfNeeded: unit))
            default:
                bytes += "\\u".utf8
                for shift in [12, 8, 4, 0] as [UInt16] {
                    bytes.append(Hexadecimal.digit(UInt8(truncatingIfNeeded: unit >> shift & 15)))
                }
            }
        }
        return bytes + [UInt8(ascii: "\"")]
    }
}
