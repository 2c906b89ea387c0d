import NevodHost
import NevodSupport

/// Handles a URL as it was typed: without a scheme, or with patterns that curl would expand.
enum OperandURL {
    /// Adds the scheme to `host/path`: http for this machine, https for all others. (curl adds http, which would send a
    /// credential in the clear.) A URL with a scheme stays as it is.
    static func absolute(_ text: String) -> String {
        guard !hasScheme(text) else { return text }
        let rest = text.hasPrefix("//") ? String(text.dropFirst(2)) : text
        guard let first = rest.utf8.first, mayBeginHost(first),
            // A malformed scheme, such as `http:/host` or `"http://host"`.
            rest.utf8.prefix(while: { !"/?#".utf8.contains($0) }).last != UInt8(ascii: ":")
        else { return text }
        let isLoopback = (try? HTTPRequest(.get, "http://\(rest)"))?.origin.isLoopback == true
        return "\(isLoopback ? "http" : "https")://\(rest)"
    }

    /// A letter, a digit, a bracket, an underscore, or a byte of another script's letter.
    private static func mayBeginHost(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "[_".utf8.contains(byte) || byte >= 0x80
    }

    /// Refuses a URL that curl would expand to several: `{a,b}`, `[1-3]`, `[a-z:2]`. Other brackets are sent as they are.
    static func checkPatterns(_ text: String) throws(UsageError) {
        guard let pattern = pattern(in: Array(text.utf8)) else { return }
        throw UsageError(
            "curl would expand \(pattern) to several URLs, but nevod-host doesn't; write each URL, or add -g (--globoff) to send it as it is"
        )
    }

    private static func hasScheme(_ text: String) -> Bool {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: ":")), mark > text.utf8.startIndex else { return false }
        return text.utf8[mark...].starts(with: "://".utf8)
            && text.utf8[..<mark].allSatisfy(\.isSchemeByte)
    }

    private static func pattern(in bytes: [UInt8]) -> String? {
        var index = 0
        while index < bytes.count {
            let close: UInt8
            switch bytes[index] {
            case UInt8(ascii: "{"): close = UInt8(ascii: "}")
            case UInt8(ascii: "["): close = UInt8(ascii: "]")
            default:
                index += 1
                continue
            }
            guard let end = bytes[index...].firstIndex(of: close) else { return nil }
            let inner = Array(bytes[(index + 1)..<end])
            if close == UInt8(ascii: "}") ? inner.contains(UInt8(ascii: ",")) : isRange(inner) {
                return String(decoding: bytes[index...end], as: UTF8.self)
            }
            index = end + 1
        }
        return nil
    }

    /// Whether the text is a range of numbers or letters, `1-3` or `a-z`, with an optional step, `:2`.
    private static func isRange(_ text: [UInt8]) -> Bool {
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let bounds = (parts.first ?? []).split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.count < 2 || isNumber(parts[1]), bounds.count == 2 else { return false }
        return bounds.allSatisfy(isNumber) || bounds.allSatisfy { $0.count == 1 && $0.allSatisfy(\.isLetter) }
    }

    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy(\.isDigit)
    }
}
