internal import NevodSupport

/// The address at which a login begins, and the address at which it ends.
package enum RedirectAddress {
    /// The authorization endpoint with the parameters of a request added to its own query (RFC 6749 §3.1).
    ///
    /// - Parameter query: the parameters, encoded as a form or a query. Every server reads `%20` as a space in a query; not every
    ///   server reads a plus as a space.
    package static func opening(_ endpoint: String, with query: some Sequence<UInt8>) -> String {
        var address = Array(endpoint.utf8.prefix { $0 != UInt8(ascii: "#") })
        if !address.contains(UInt8(ascii: "?")) {
            address.append(UInt8(ascii: "?"))
        } else if address.last != UInt8(ascii: "?"), address.last != UInt8(ascii: "&") {
            address.append(UInt8(ascii: "&"))
        }
        for byte in query {
            if byte == UInt8(ascii: "+") { address += "%20".utf8 } else { address.append(byte) }
        }
        return String(decoding: address, as: UTF8.self)
    }

    /// An address without its query and fragment, as browsers write it: without a default port, and with a path. So addresses
    /// can be compared with the redirect URI (RFC 6749 §3.1.2).
    package static func place(of address: String) -> String {
        let bytes = Array(address.utf8).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let name = String(decoding: scheme.map { $0.lowercased }, as: UTF8.self)
        let rest = bytes[scheme.endIndex...]
        guard name == "http" || name == "https", rest.starts(with: "://".utf8) else {
            return String(decoding: Array(bytes), as: UTF8.self)
        }
        let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
        var host = authority.map { $0.lowercased }
        let port = Array((name == "http" ? ":80" : ":443").utf8)
        if host.count > port.count, host.suffix(port.count).elementsEqual(port) { host.removeLast(port.count) }
        let path = rest[authority.endIndex...]
        let shown = path.isEmpty ? "/" : String(decoding: Array(path), as: UTF8.self)
        return "\(name)://\(String(decoding: host, as: UTF8.self))\(shown)"
    }
}
