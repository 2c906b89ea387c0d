extension JSONValue {
    /// The value in UTF-8, without white space.
    public var encoded: Secret {
        var bytes = WipedBytes()
        write(to: &bytes)
        return bytes.secret
    }

    private func write(to bytes: inout WipedBytes) {
        switch self {
        case .null: bytes.append("null")
        case .bool(let bool): bytes.append(bool ? "true" : "false")
        case .integer(let integer): bytes.append(String(integer))
        case .number(let number): bytes.append(number.isFinite ? "\(number)" : "null")
        case .string(let string): bytes.append(quoting: string)
        case .secret(let secret): secret.withUnsafeBytes { bytes.append(quoting: $0) }
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                bytes.append(quoting: member.name)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension WipedBytes {
    /// Appends a JSON string: in quotation marks, with escapes where JSON demands them (RFC 8259 §7).
    package mutating func append(quoting text: String) {
        var text = text
        text.withUTF8 { append(quoting: UnsafeRawBufferPointer($0)) }
    }

    fileprivate mutating func append(quoting text: UnsafeRawBufferPointer) {
        append(UInt8(ascii: "\""))
        for byte in text {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                append(UInt8(ascii: "\\"))
                append(byte)
            case 0..<0x20:
                append("\\u00")
                append(Hexadecimal.digit(byte >> 4))
                append(Hexadecimal.digit(byte & 15))
            default: append(byte)
            }
        }
        append(UInt8(ascii: "\""))
    }
}
