internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The host of a URL in its canonical form: no two texts for one address, and nothing that libcurl would refuse or read as
/// another host.
enum URLHost {
    /// The longest host name in bytes (RFC 1035 §2.3.4, as text).
    private static let longest = 255

    /// Returns the canonical form: a name in lower case and ASCII (`xn--…`), an IPv4 address with four decimal parts, an IPv6
    /// address as RFC 5952 writes it, without brackets.
    ///
    /// - Parameter text: the host as a URL holds it; an IPv6 address in brackets.
    /// - Returns: nil for anything else, such as an address of a future version (RFC 3986 §3.2.2) or with a zone.
    static func canonical(_ text: Substring.UTF8View) -> String? {
        if text.first == UInt8(ascii: "[") {
            guard text.count >= 2, text.last == UInt8(ascii: "]") else { return nil }
            return ipv6(text.dropFirst().dropLast())
        }
        // In UTF-8, a name is at most four times as long as its letters are many, and its ASCII form is longer still.
        guard text.count <= 4 * longest else { return nil }
        if isCanonical(text) { return String(Substring(text)) }
        let text = String(Substring(text))
        // The ASCII form is checked after its conversion: UTS 46 maps characters such as U+FF1A to a colon.
        guard let name = text.utf8.allSatisfy({ $0 < 0x80 }) ? text.lowercased() : IDN.ascii(text),
            !name.isEmpty, name.utf8.count <= longest, name.utf8.allSatisfy(isNameByte)
        else { return nil }
        return ipv4(name) ?? name
    }

    /// Whether a text without brackets is its own canonical form, as most are; false if that needs a closer look.
    private static func isCanonical(_ text: Substring.UTF8View) -> Bool {
        guard text.count <= longest, let first = text.first else { return false }
        guard isDigit(first) else { return text.allSatisfy(isNameByte) }
        var (parts, digits, value) = (1, 0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: "."):
                guard digits > 0 else { return false }
                (parts, digits, value) = (parts + 1, 0, 0)
            case _ where isDigit(byte):
                // A part that begins with 0 is octal.
                guard digits == 0 || value > 0 else { return false }
                (digits, value) = (digits + 1, value * 10 + Int(byte - UInt8(ascii: "0")))
                guard value <= 255 else { return false }
            default: return false
            }
        }
        return parts == 4 && digits > 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether the byte may stand in a host's name, in lower case.
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Returns the canonical form of an IPv6 address without brackets; nil for any other text.
    static func ipv6(_ text: some Collection<UInt8>) -> String? {
        var address = in6_addr()
        let text = String(decoding: text, as: UTF8.self)
        // inet_pton(3) would accept a text that ends in NUL.
        guard text.utf8.allSatisfy({ Hexadecimal.value(of: $0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
            inet_pton(AF_INET6, text, &address) == 1
        else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { canonical in
            guard let start = canonical.baseAddress, inet_ntop(AF_INET6, &address, start, socklen_t(canonical.count)) != nil
            else { return nil }
            return String(cString: start)
        }
    }

    /// Returns the canonical form of an IPv4 address with one to four parts, each decimal, octal or hexadecimal; nil if the text
    /// is a name. (inet_aton(3); resolvers disagree on such numbers, so none of them sees one.)
    static func ipv4(_ text: String) -> String? {
        guard let first = text.utf8.first, Hexadecimal.value(of: first).map({ $0 < 10 }) == true else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(number)
        guard let last = parts.last, parts.count <= 4, let last else { return nil }
        var address: UInt64 = 0
        for part in parts.dropLast() {
            guard let part, part <= 0xFF else { return nil }
            address = address << 8 | part
        }
        let bits = UInt64(5 - parts.count) * 8
        guard last < 1 << bits else { return nil }
        address = address << bits | last
        return [24, 16, 8, 0].map { String(address >> UInt64($0) & 0xFF) }.joined(separator: ".")
    }

    /// A part of an IPv4 address; nil if it isn't a number.
    private static func number(_ text: Substring.UTF8View) -> UInt64? {
        let text = Substring(text)
        // A sign is no digit.
        guard let first = text.utf8.first, Hexadecimal.value(of: first) != nil else { return nil }
        guard first == UInt8(ascii: "0"), text.utf8.count > 1 else { return UInt64(text) }
        if text.utf8.dropFirst().first == UInt8(ascii: "x") {
            let digits = text.dropFirst(2)
            return digits.utf8.first.flatMap(Hexadecimal.value) == nil ? nil : UInt64(digits, radix: 16)
        }
        return UInt64(text, radix: 8)
    }
}
