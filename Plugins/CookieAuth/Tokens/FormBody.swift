internal import NevodPluginKit
internal import NevodSupport

/// The format of a form that a request sends, to add a field to it: `application/x-www-form-urlencoded` or `multipart/form-data`.
enum FormBody {
    case urlencoded
    case multipart(boundary: String)

    /// Reads a Content-Type; nil for another type. The longest boundary has 70 bytes (RFC 2046 §5.1.1).
    init?(contentType line: String) {
        let parts = line.utf8.split(separator: UInt8(ascii: ";")).map { String(Substring($0)).trimmed }
        guard let type = parts.first?.lowercasedASCII else { return nil }
        if type == "application/x-www-form-urlencoded" {
            self = .urlencoded
            return
        }
        guard type == "multipart/form-data" else { return nil }
        for part in parts.dropFirst() {
            guard let (name, value) = part.splitAtEquals, name.equalsIgnoringCase("boundary") else { continue }
            let boundary = value.unquoted
            guard (1...70).contains(boundary.utf8.count) else { return nil }
            self = .multipart(boundary: boundary)
            return
        }
        return nil
    }

    /// Returns the body with the field put first; nil if it already has a field of that name.
    func adding(_ name: String, _ value: String, to body: [UInt8]) -> [UInt8]? {
        guard !holds(name, body) else { return nil }
        switch self {
        case .urlencoded:
            var form = FormFields()
            form.append(name, .text(value))
            let field = form.encoded.withUnsafeBytes { Array($0) }
            return body.isEmpty ? field : field + [UInt8(ascii: "&")] + body
        case .multipart(let boundary):
            guard body.starts(with: "--\(boundary)".utf8) else { return nil }
            let disposition = "Content-Disposition: form-data; name=\"\(name.escapedInDisposition)\"\r\n"
            return Array("--\(boundary)\r\n\(disposition)\r\n\(value)\r\n".utf8) + body
        }
    }

    /// Whether the body has a field of that name.
    private func holds(_ name: String, _ body: [UInt8]) -> Bool {
        switch self {
        case .urlencoded: return FormFields(parsing: String(decoding: body, as: UTF8.self))[name] != nil
        case .multipart(let boundary):
            let (start, end) = (Array("--\(boundary)\r\n".utf8), Array("\r\n\r\n".utf8))
            var rest = body[...]
            while let delimiter = rest.firstRange(ofBytes: start) {
                rest = rest[delimiter.upperBound...]
                guard let head = rest.firstRange(ofBytes: end) else { return false }
                if Self.name(of: rest[..<head.lowerBound])?.equals(name.escapedInDisposition) ?? false { return true }
                rest = rest[head.upperBound...]
            }
            return false
        }
    }

    /// The parts of a line, split at semicolons outside quotes.
    private static func parameters(of line: ArraySlice<UInt8>) -> [String] {
        var isQuoted = false
        let parts = line.split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ";") && !isQuoted
        }
        return parts.map { String(decoding: $0, as: UTF8.self).trimmed }
    }

    /// The name of a part's field, from its Content-Disposition (RFC 7578 §4.2).
    private static func name(of head: ArraySlice<UInt8>) -> String? {
        for line in head.split(separator: UInt8(ascii: "\n")) {
            let parameters = parameters(of: line)
            guard let first = parameters.first, first.lowercasedASCII.utf8.starts(with: "content-disposition:".utf8) else {
                continue
            }
            for parameter in parameters.dropFirst() {
                guard let (name, value) = parameter.splitAtEquals, name.equalsIgnoringCase("name") else { continue }
                return value.unquoted
            }
        }
        return nil
    }
}

extension String {
    /// The name as written in a part's head (HTML §4.10.22.8).
    fileprivate var escapedInDisposition: String {
        var escaped: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""): escaped += "%22".utf8
            case 0x0D: escaped += "%0D".utf8
            case 0x0A: escaped += "%0A".utf8
            default: escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// The text without quotes around it.
    fileprivate var unquoted: String {
        let quote = UInt8(ascii: "\"")
        guard utf8.count >= 2, utf8.first == quote, utf8.last == quote else { return self }
        return String(Substring(utf8.dropFirst().dropLast()))
    }

    fileprivate var trimmed: String {
        String(Substring(utf8.trimmed { $0.isBlankOrLineBreak }))
    }
}
