internal import CCurl
internal import Glibc

/// The server or proxy that a failed transfer connected to.
struct CurlPeer {
    let origin: Origin
    /// The proxy's host and port, without credentials; nil for a direct connection.
    let proxy: String?
    /// `errno` of the failed connection; 0 if there is none.
    private let systemCode: Int32

    init(origin: Origin, proxyURL: String?, systemCode: Int32) {
        self.origin = origin
        self.systemCode = systemCode
        proxy = proxyURL.map(Self.authority)
    }

    /// Returns the system's reason why there is no connection, and the address: libcurl's text repeats that there is none. Nil if
    /// libcurl's text has to do.
    func failure(_ code: CURLcode) -> String? {
        guard code == CURLE_COULDNT_CONNECT, systemCode != 0 else { return nil }
        return "\(String(cString: strerror(systemCode))) at \(proxy ?? origin.authority)"
    }

    /// Returns the host and port in a proxy's URL, whose scheme may be missing; its credentials are left out.
    private static func authority(_ url: String) -> String {
        var rest = Array(url.utf8)[...]
        if let mark = rest.indices.first(where: { rest[$0...].starts(with: "://".utf8) }) { rest = rest[(mark + 3)...] }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        return String(decoding: rest.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
    }
}
