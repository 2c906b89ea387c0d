#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The hosts of `no_proxy`: those to which requests go directly.
struct ProxyBypass: Sendable, Hashable {
    private enum Entry: Sendable, Hashable {
        /// A name and its subdomains, in lower case and without dots at its ends.
        case name(String)
        /// The addresses that begin with the first `bits` of `address`.
        case network(HostAddress, bits: Int)
    }

    private let entries: [Entry]
    private let isForAll: Bool

    /// - Parameter text: entries between commas, spaces, tabs or line breaks: `*` for all hosts, an address, a block of addresses
    ///   (`10.0.0.0/8`, `fd00::/8`), or a name, with or without dots at its ends. Any other entry matches no host.
    init(_ text: String) {
        // By byte, since a line break of two characters is one Character.
        let words = text.utf8.split { $0 == UInt8(ascii: ",") || $0 == 0x20 || (0x09...0x0D).contains($0) }
            .map { String(Substring($0)) }
        isForAll = words.contains("*")
        entries = words.compactMap(Self.entry)
    }

    private static func entry(_ word: String) -> Entry? {
        if let slash = word.utf8.firstIndex(of: UInt8(ascii: "/")) {
            let digits = word[word.utf8.index(after: slash)...]
            // A short form such as 10/8 could mean two blocks.
            guard let address = HostAddress(word[..<slash], isShortAllowed: false), digits.utf8.allSatisfy(isDigit),
                let bits = Int(digits), bits <= address.bytes.count * 8
            else { return nil }
            return .network(address, bits: bits)
        }
        if let address = HostAddress(word[...]) { return .network(address, bits: address.bytes.count * 8) }
        let name = trimmed(word)
        guard !name.isEmpty else { return nil }
        return .name(name.utf8.allSatisfy { $0 < 0x80 } ? name.lowercased() : IDN.ascii(String(name)) ?? name.lowercased())
    }

    /// - Parameter host: as ``Origin/host``.
    func contains(_ host: String) -> Bool {
        if isForAll { return true }
        if entries.isEmpty { return false }
        let name = Self.trimmed(host)
        let address = HostAddress(name)
        return entries.contains { entry in
            switch entry {
            case .network(let network, let bits): address?.isEqual(to: network, bits: bits) ?? false
            // A suffix of an address is not a domain.
            case .name(let domain): address == nil && (name == domain || name.hasSuffix(".\(domain)"))
            }
        }
    }

    /// Removes the dots at the ends: `.example.com` and `example.com.` are the domain `example.com`.
    private static func trimmed(_ name: String) -> Substring {
        var name = name[...]
        while name.utf8.first == UInt8(ascii: ".") { name = name.dropFirst() }
        while name.utf8.last == UInt8(ascii: ".") { name = name.dropLast() }
        return name
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
}

/// An IP address as its bytes. An IPv4 address within IPv6 (`::ffff:127.0.0.1`, RFC 4291 §2.5.5.2) is the IPv4 address.
private struct HostAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// - Parameters:
    ///   - text: IPv6 with or without brackets, or IPv4.
    ///   - isShortAllowed: whether IPv4 may have any form that a name lookup takes for an address, such as `127.1` or `0x7f000001`.
    init?(_ text: Substring, isShortAllowed: Bool = true) {
        let isBracketed = text.utf8.first == UInt8(ascii: "[") && text.utf8.last == UInt8(ascii: "]")
        let text = String(isBracketed ? text.dropFirst().dropLast() : text)
        guard !text.utf8.contains(0), !text.utf8.contains(0x20) else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            var address = in6_addr()
            guard inet_pton(AF_INET6, text, &address) == 1 else { return nil }
            let bytes = withUnsafeBytes(of: address) { Array($0) }
            let isMapped = bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
            self.bytes = isMapped ? Array(bytes[12...]) : bytes
        } else {
            var address = in_addr()
            guard !isBracketed, isShortAllowed ? inet_aton(text, &address) != 0 : inet_pton(AF_INET, text, &address) == 1 else {
                return nil
            }
            bytes = withUnsafeBytes(of: address) { Array($0) }
        }
    }

    /// Whether the first bits are the same.
    func isEqual(to other: HostAddress, bits: Int) -> Bool {
        guard bytes.count == other.bytes.count else { return false }
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard bytes.prefix(whole) == other.bytes.prefix(whole) else { return false }
        return rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - UInt8(rest)) == 0
    }
}
