internal import Foundation
internal import NevodHost
internal import NevodSupport

extension URL {
    /// Encodes the few characters of the target that Foundation rejects. For a single one, it would otherwise encode the whole
    /// URL again, including `%2F`.
    init?(targetOf request: HTTPRequest) {
        var text = "\(request.origin)"
        let bytes = Array(request.target.utf8)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case UInt8(ascii: "["): text += "%5B"
            case UInt8(ascii: "]"): text += "%5D"
            case UInt8(ascii: "%") where PercentEncoding.byte(escapedAt: index, in: bytes.span) == nil: text += "%25"
            default: text.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
        self.init(string: text, encodingInvalidCharacters: false)
    }
}

extension HTTPHeaders {
    /// The lines as Foundation stores them, with one value for each name. Keys are lower-case names; each name is spelled as in
    /// its first line.
    var mergedFields: [String: (name: String, value: String)] {
        var fields: [String: (name: String, value: String)] = [:]
        for line in self {
            let key = line.name.lowercased()
            if let field = fields[key] {
                let separator = key == "cookie" ? "; " : ", "
                fields[key] = (field.name, field.value + separator + line.value)
            } else {
                fields[key] = (line.name, line.value)
            }
        }
        return fields
    }
}
