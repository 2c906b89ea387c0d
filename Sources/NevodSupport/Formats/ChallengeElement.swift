/// An element between the commas of a line with challenges. It is a scheme, alone or with a token68, or a parameter. A scheme and
/// its first parameter have no comma between them, and are two elements.
package enum ChallengeElement {
    case scheme(String, token68: String?)
    case parameter(name: String, value: String)

    /// The elements up to the line's first fault. A challenge with a fault is left out.
    package static func elements(of line: String) -> [ChallengeElement] {
        var line = line
        return line.withUTF8 { bytes in
            var reader = Reader(bytes)
            var elements: [ChallengeElement] = []
            do throws(Reader.Fault) {
                while reader.skipToElement() { try reader.read(into: &elements) }
            } catch {
                while let last = elements.popLast() {
                    if case .scheme = last { break }
                }
            }
            return elements
        }
    }

    /// Borrows the bytes of one call.
    private struct Reader {
        struct Fault: Error {}

        private let bytes: UnsafeBufferPointer<UInt8>
        private var offset = 0

        init(_ bytes: UnsafeBufferPointer<UInt8>) {
            self.bytes = bytes
        }

        private var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }
        private var isAtEndOfElement: Bool { next == nil || next == UInt8(ascii: ",") }

        /// Skips empty elements (RFC 9110 §5.6.1.2). Returns false at the end of the line.
        mutating func skipToElement() -> Bool {
            while let byte = next, byte.isBlank || byte == UInt8(ascii: ",") { offset += 1 }
            return next != nil
        }

        mutating func read(into elements: inout [ChallengeElement]) throws(Fault) {
            let name = try token()
            let end = offset
            skipSpace()
            if next == UInt8(ascii: "=") {
                elements.append(.parameter(name: name, value: try value()))
            } else if isAtEndOfElement {
                elements.append(.scheme(name, token68: nil))
            } else if end == offset {
                throw Fault()
            } else if let token68 = token68() {
                elements.append(.scheme(name, token68: token68))
            } else {
                elements.append(.scheme(name, token68: nil))
                let name = try token()
                skipSpace()
                elements.append(.parameter(name: name, value: try value()))
            }
            skipSpace()
            guard isAtEndOfElement else { throw Fault() }
        }

        private mutating func skipSpace() {
            while let byte = next, byte.isBlank { offset += 1 }
        }

        private mutating func token() throws(Fault) -> String {
            let text = take { $0.isTokenByte }
            guard !text.isEmpty else { throw Fault() }
            return String(decoding: text, as: UTF8.self)
        }

        /// Reads the text after a parameter's name: `="a value"`. Bad senders put white space around the sign (RFC 9110 §11.2).
        private mutating func value() throws(Fault) -> String {
            guard next == UInt8(ascii: "=") else { throw Fault() }
            offset += 1
            skipSpace()
            return next == UInt8(ascii: "\"") ? try quoted() : try token()
        }

        /// Reads a quoted string (RFC 9110 §5.6.4).
        private mutating func quoted() throws(Fault) -> String {
            offset += 1
            var text: [UInt8] = []
            while var byte = next {
                offset += 1
                if byte == UInt8(ascii: "\"") { return String(decoding: text, as: UTF8.self) }
                if byte == UInt8(ascii: "\\") {
                    guard let escaped = next else { break }
                    offset += 1
                    byte = escaped
                }
                guard byte.isFieldByte else { break }
                text.append(byte)
            }
            throw Fault()
        }

        /// Reads a token68 (RFC 9110 §11.2). If there isn't one, returns nil and reads nothing. Only the end of the element
        /// distinguishes `realm=` from `realm=x`.
        private mutating func token68() -> String? {
            let start = offset
            let text = take { $0.isToken68Byte }
            let padding = take { $0 == UInt8(ascii: "=") }
            let end = offset
            skipSpace()
            guard !text.isEmpty, isAtEndOfElement else {
                offset = start
                return nil
            }
            return String(decoding: bytes[(end - text.count - padding.count)..<end], as: UTF8.self)
        }

        private mutating func take(_ isPart: (UInt8) -> Bool) -> Slice<UnsafeBufferPointer<UInt8>> {
            let start = offset
            while let byte = next, isPart(byte) { offset += 1 }
            return bytes[start..<offset]
        }
    }
}

extension UInt8 {
    /// Whether a token68 may contain the byte (RFC 9110 §11.2).
    fileprivate var isToken68Byte: Bool { isUnreserved || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") }
}
