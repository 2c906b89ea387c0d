/// An address that a browser is redirected to with the response of a login (RFC 6749 §3.1.2).
package enum RedirectAddress {
    /// The address without its query and fragment, as browsers write it: without a default port, and with a path.
    package static func place(of address: String) -> String {
        let bytes = address.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let name = String(decoding: scheme.map { $0.asciiLowercased }, as: UTF8.self)
        let rest = bytes[scheme.endIndex...]
        guard name == "http" || name == "https", rest.starts(with: "://".utf8) else { return String(Substring(bytes)) }
        let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
        var host = authority.map { $0.asciiLowercased }
        let port = Array((name == "http" ? ":80" : ":443").utf8)
        if host.count > port.count, host.suffix(port.count).elementsEqual(port) { host.removeLast(port.count) }
        let path = rest[authority.endIndex...]
        return "\(name)://\(String(decoding: host, as: UTF8.self))\(path.isEmpty ? "/" : String(Substring(path)))"
    }
}
