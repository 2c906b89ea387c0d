import NevodHost
import NevodSupport

/// The file name in a response's `Content-Disposition` (RFC 6266).
enum ContentDisposition {
    /// Returns a name without folders that is usable in the current folder; nil if the response has none.
    ///
    /// A server may try to write elsewhere, over a file such as `.bashrc`, or to a terminal. So the name loses everything up to
    /// its last slash or backslash, dots at its start, and control characters.
    static func fileName(of response: HTTPResponse) -> String? {
        response.headers["Content-Disposition"].flatMap { fileName(in: $0) }
    }

    static func fileName(in field: String) -> String? {
        let parameters = parameters(of: Array(field.utf8))
        // The extended form wins (§4.3).
        let extended = parameters.first { $0.name == "filename*" }.flatMap { decoded($0.value) }
        return extended.flatMap(safe) ?? parameters.first { $0.name == "filename" }.flatMap { safe($0.value) }
    }

    /// Returns the parameters after the type, in order, with lower-case names.
    private static func parameters(of field: [UInt8]) -> [(name: String, value: [UInt8])] {
        var parameters: [(name: String, value: [UInt8])] = []
        var index = field.firstIndex(of: UInt8(ascii: ";")) ?? field.count
        while index < field.count {
            index += 1
            let start = index
            while index < field.count, field[index] != UInt8(ascii: "="), field[index] != UInt8(ascii: ";") { index += 1 }
            let name = String(decoding: field[start..<index], as: UTF8.self).lowercased().filter { $0 != " " && $0 != "\t" }
            guard index < field.count, field[index] == UInt8(ascii: "=") else { continue }
            index += 1
            while index < field.count, field[index].isBlank { index += 1 }
            var value: [UInt8] = []
            if index < field.count, field[index] == UInt8(ascii: "\"") {
                index += 1
                while index < field.count, field[index] != UInt8(ascii: "\"") {
                    if field[index] == UInt8(ascii: "\\"), index + 1 < field.count { index += 1 }
                    value.append(field[index])
                    index += 1
                }
                while index < field.count, field[index] != UInt8(ascii: ";") { index += 1 }
            } else {
                let start = index
                while index < field.count, field[index] != UInt8(ascii: ";") { index += 1 }
                value = Array(field[start..<index])
                while value.last?.isBlank == true { value.removeLast() }
            }
            parameters.append((name, value))
        }
        return parameters
    }

    /// Decodes `UTF-8'en'na%C3%AFve` (RFC 8187 §3.2.1); nil for another charset.
    private static func decoded(_ value: [UInt8]) -> [UInt8]? {
        let parts = value.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, String(decoding: parts[0], as: UTF8.self).lowercased() == "utf-8" else { return nil }
        return PercentEncoding.decoded(Array(parts[2]), plusIsSpace: false)
    }

    private static func safe(_ bytes: [UInt8]) -> String? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        let last = text.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last ?? []
        var name = String.UnicodeScalarView(last.filter { !$0.isUnsafeAtTerminal && $0.value >= 0x20 })
        while let first = name.first, first == "." || first == " " { name.removeFirst() }
        while name.last == " " { name.removeLast() }
        // The file system refuses longer names.
        return name.isEmpty || String(name).utf8.count > 255 ? nil : String(name)
    }
}
