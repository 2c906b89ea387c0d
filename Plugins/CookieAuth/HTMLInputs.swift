internal import NevodPluginKit
internal import NevodSupport

/// The names and values of a page's input elements. Reads each byte once, so that no page is slow to read.
struct HTMLInputs {
    private(set) var inputs: [(name: String, value: String)] = []

    /// The most inputs that are read.
    private static let most = 1000

    init(_ page: Secret) {
        page.withUnsafeBytes { read($0[...]) }
    }

    /// The value of the first input of that name that has one.
    func value(named name: String) -> String? {
        inputs.first { $0.name == name && !$0.value.isEmpty }?.value
    }

    func contains(named name: String) -> Bool { inputs.contains { $0.name == name } }

    private mutating func read(_ page: Slice<UnsafeRawBufferPointer>) {
        var rest = page
        while inputs.count < Self.most, let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if rest.starts(with: "!--".utf8) {
                rest.skip(behind: "-->")
            } else if rest.isTag("input") {
                rest = rest.dropFirst("input".utf8.count)
                let attributes = Self.attributes(&rest)
                if let name = attributes["name"] { inputs.append((name, attributes["value"] ?? "")) }
            } else if rest.isTag("script") {
                rest.skip(behind: "</script")
            }
        }
    }

    /// Reads attributes up to the end of the tag. Names are in lower case; the first of a repeated name counts.
    private static func attributes(_ rest: inout Slice<UnsafeRawBufferPointer>) -> [String: String] {
        var attributes: [String: String] = [:]
        while true {
            rest = rest.drop { isSpace($0) || $0 == UInt8(ascii: "/") }
            guard let first = rest.first, first != UInt8(ascii: ">") else { break }
            let name = rest.prefix { !isSpace($0) && !"=>/".utf8.contains($0) }
            // An equals sign without a name is skipped.
            rest = rest[(name.isEmpty ? name.endIndex + 1 : name.endIndex)...].drop(while: isSpace)
            var value = rest[rest.startIndex..<rest.startIndex]
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst().drop(while: isSpace)
                if let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") {
                    value = rest.dropFirst().prefix { $0 != quote }
                    rest = rest[value.endIndex...].dropFirst()
                } else {
                    value = rest.prefix { !isSpace($0) && $0 != UInt8(ascii: ">") }
                    rest = rest[value.endIndex...]
                }
            }
            let key = String(decoding: name, as: UTF8.self).lowercased()
            if attributes[key] == nil { attributes[key] = String(decoding: value, as: UTF8.self).withoutReferences }
        }
        return attributes
    }

    fileprivate static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0D).contains(byte)
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Whether a tag of that name begins here.
    ///
    /// - Parameter name: in lower case.
    fileprivate func isTag(_ name: StaticString) -> Bool {
        let count = name.utf8CodeUnitCount
        guard self.count > count, let end = dropFirst(count).first else { return false }
        return (HTMLInputs.isSpace(end) || "/>".utf8.contains(end)) && isPrefixed(by: name)
    }

    private func isPrefixed(by text: StaticString) -> Bool {
        let text = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        return count >= text.count
            && zip(self, text).allSatisfy { byte, wanted in
                byte == wanted || (0x41...0x5A).contains(byte) && byte | 0x20 == wanted
            }
    }

    fileprivate mutating func skip(behind text: StaticString) {
        while !isEmpty, !isPrefixed(by: text) { self = dropFirst() }
        self = dropFirst(text.utf8CodeUnitCount)
    }
}

extension String {
    /// The text with its character references resolved, as far as form libraries write them.
    fileprivate var withoutReferences: String {
        guard utf8.contains(UInt8(ascii: "&")) else { return self }
        var text: [UInt8] = []
        // Read byte by byte: a combining mark after a reference must not hide its semicolon.
        var rest = utf8[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
            text += rest[..<start]
            rest = rest[start...].dropFirst()
            let name = rest.prefix(10).prefix { $0 != UInt8(ascii: ";") }
            let behind = rest[name.endIndex...]
            if behind.first == UInt8(ascii: ";"), let scalar = Self.scalar(String(decoding: name, as: UTF8.self)) {
                text += scalar.utf8
                rest = behind.dropFirst()
            } else {
                text.append(UInt8(ascii: "&"))
            }
        }
        return String(decoding: text + rest, as: UTF8.self)
    }

    private static func scalar(_ reference: String) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard reference.utf8.first == UInt8(ascii: "#") else { return nil }
        let digits = reference.dropFirst()
        let number = digits.first == "x" || digits.first == "X" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init)
    }
}
