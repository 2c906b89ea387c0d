/// The members of a JSON object's outermost level whose values are strings: as much of JSON as the engine needs, which uses no
/// Foundation. Whatever isn't JSON has fewer members, or none.
enum JSONStrings {
    static func members(of text: [UInt8]) -> [(name: String, value: String)] {
        var members: [(name: String, value: String)] = []
        var depth = 0
        var name: String?
        var isValue = false
        var rest = text[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                // An array's strings have no names.
                if depth == 0, byte == UInt8(ascii: "[") { return [] }
                depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ":"): isValue = true
            case UInt8(ascii: ","): isValue = false
            case UInt8(ascii: "\""):
                guard let string = string(&rest) else { return members }
                guard depth == 1 else { continue }
                if isValue, let known = name { members.append((known, string)) }
                name = isValue ? nil : string
            default: break
            }
        }
        return members
    }

    /// What stands before the closing quotation mark; nil without one. Escapes beyond ASCII's are left as they stand.
    private static func string(_ rest: inout ArraySlice<UInt8>) -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                switch escaped {
                case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(escaped)
                default: bytes += [byte, escaped]
                }
            default: bytes.append(byte)
            }
        }
        return nil
    }
}
