internal import CIDN2
internal import CPSL
internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The canonical form of a URL's host: one text for each address, and nothing that libcurl would refuse or read as another host.
enum URLHost {
    /// The longest host name in bytes (RFC 1035 §2.3.4, as text).
    private static let longest = 255

    /// Returns the canonical form: a name in lower case and ASCII (`xn--…`), an IPv4 address with four decimal parts, an IPv6
    /// address as RFC 5952 writes it, without brackets.
    ///
    /// - Parameter text: the host as written in a URL; an IPv6 address in brackets.
    /// - Returns: nil for anything else, such as an address of a future version (RFC 3986 §3.2.2) or with a zone.
    static func canonical(_ text: Substring.UTF8View) -> String? {
        if text.first == UInt8(ascii: "[") {
            guard text.count >= 2, text.last == UInt8(ascii: "]") else { return nil }
            return ipv6(text.dropFirst().dropLast())
        }
        // A letter takes at most four bytes in UTF-8, and at least one in the ASCII form.
        guard text.count <= 4 * longest else { return nil }
        if isCanonical(text) { return String(Substring(text)) }
        let text = String(Substring(text))
        // Checks the ASCII form, since UTS 46 maps characters such as U+FF1A to a colon.
        guard let name = text.utf8.allSatisfy({ $0 < 0x80 }) ? text.lowercased() : IDN.ascii(text),
            !name.isEmpty, name.utf8.count <= longest, name.utf8.allSatisfy(isNameByte)
        else { return nil }
        return ipv4(name) ?? name
    }

    /// Whether a text without brackets is its own canonical form, as most are. False if that needs a closer look.
    private static func isCanonical(_ text: Substring.UTF8View) -> Bool {
        guard text.count <= longest, let first = text.first else { return false }
        guard first.isDigit else { return text.allSatisfy(isNameByte) }
        var (parts, digits, value) = (1, 0, 0)
        for byte in text {
            switch byte {
            case UInt8(ascii: "."):
                guard digits > 0 else { return false }
                (parts, digits, value) = (parts + 1, 0, 0)
            case _ where byte.isDigit:
                // A part that begins with 0 is octal.
                guard digits == 0 || value > 0 else { return false }
                (digits, value) = (digits + 1, value * 10 + Int(byte - UInt8(ascii: "0")))
                guard value <= 255 else { return false }
            default: return false
            }
        }
        return parts == 4 && digits > 0
    }

    /// Whether a host's name in lower case can contain the byte.
    static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLowercase || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
    }

    /// Returns the canonical form of an IPv6 address without brackets; nil for any other text.
    static func ipv6(_ text: some Collection<UInt8>) -> String? {
        var address = in6_addr()
        let text = String(decoding: text, as: UTF8.self)
        // inet_pton(3) would accept a text that ends in NUL.
        guard text.utf8.allSatisfy({ $0.isHexDigit || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
            inet_pton(AF_INET6, text, &address) == 1
        else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { canonical in
            guard let start = canonical.baseAddress, inet_ntop(AF_INET6, &address, start, socklen_t(canonical.count)) != nil
            else { return nil }
            return String(cString: start)
        }
    }

    /// Returns the canonical form of an IPv4 address with one to four parts, each decimal, octal or hexadecimal; nil if the text
    /// is a name. (inet_aton(3) reads such numbers. Resolvers disagree on them, so they see only the canonical form.)
    static func ipv4(_ text: String) -> String? {
        guard text.utf8.first?.isDigit == true else { return nil }
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
        guard text.first == UInt8(ascii: "0"), text.count > 1 else { return UInt64(digits: text) }
        guard text.dropFirst().first == UInt8(ascii: "x") else { return UInt64(Substring(text), radix: 8) }
        let digits = text.dropFirst(2)
        // `UInt64` would accept a sign.
        return digits.first?.isHexDigit == true ? UInt64(Substring(digits), radix: 16) : nil
    }
}

/// Internationalized host names (IDNA 2008, RFC 5891), converted by libidn2. libcurl uses libidn2 too, but depends on the
/// process's locale; this call always takes UTF-8.
enum IDN {
    /// Returns the ASCII form, `xn--…`; nil if the text is not a valid name.
    static func ascii(_ host: String) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        // A NUL would end the text early in the C library.
        guard !host.utf8.contains(0),
            idn2_to_ascii_8z(host, &text, Int32(IDN2_NONTRANSITIONAL.rawValue | IDN2_NFC_INPUT.rawValue)) == IDN2_OK.rawValue,
            let text
        else { return nil }
        defer { idn2_free(text) }
        return String(cString: text).lowercased()
    }
}

/// The domains under which anybody can register a name (publicsuffix.org), looked up with libpsl, as in libcurl.
enum PublicSuffix {
    // Immutable once loaded: libpsl's look-ups only read.
    private nonisolated(unsafe) static let list = psl_latest(nil)

    /// - Parameter domain: a canonical name. One without a dot is a suffix unless the list says otherwise.
    static func contains(_ domain: String) -> Bool {
        psl_is_public_suffix(list, domain.withoutDotsAtEnd) != 0
    }

    /// The site of a host: the registered part of its name, such as `example.co.uk` for `www.example.co.uk`. An address or a public
    /// suffix is its own site.
    static func site(of domain: String) -> String {
        let name = domain.withoutDotsAtEnd
        guard !CookieScope.isAddress(name) else { return name }
        return name.withCString { psl_registrable_domain(list, $0).map { String(cString: $0) } } ?? name
    }
}
