/// Selects the header lines of a response that are stored.
enum StoredHeaders {
    /// Lines that concern the connection (RFC 9110 §7.6.1), or a proxy that isn't part of the cache's key (RFC 9111 §3.1).
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization",
    ]

    /// Lines that are valid only in their own exchange: served again, an old cookie or nonce would replace a newer one (RFC 6265,
    /// RFC 9110 §11.6.3, RFC 9449 §8).
    private static let singleUse = CredentialNames.responseFields.union(["authentication-info", "dpop-nonce"])

    /// Lines that a 304 doesn't change (RFC 9111 §3.2): they describe the stored body, which the transport may have decoded.
    private static let describingBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    static func storable(in headers: HTTPHeaders) -> HTTPHeaders {
        // A set, because the server chooses how many names it lists and how many lines it sends.
        let named = Set(
            headers.values(of: "Connection").flatMap { $0.split(separator: ",") }
                .map { $0.lowercased().filter { $0 != " " && $0 != "\t" } })
        return copy(of: headers) { !hopByHop.contains($0) && !singleUse.contains($0) && !named.contains($0) }
    }

    /// The stored lines, after lines of a 304 have replaced lines with the same names (RFC 9111 §3.2).
    static func updated(_ stored: HTTPHeaders, by notModified: HTTPHeaders) -> HTTPHeaders {
        let new = copy(of: storable(in: notModified)) { !describingBody.contains($0) }
        let names = Set(new.map { $0.name.lowercased() })
        // The old Age and Date no longer apply: the origin has just confirmed the response.
        var result = copy(of: stored) { !names.contains($0) && $0 != "age" && $0 != "date" }
        result.append(new)
        return result
    }

    /// The lines that are passed to the caller of this exchange only, and never stored.
    static func singleUse(in headers: HTTPHeaders) -> HTTPHeaders {
        copy(of: headers) { singleUse.contains($0) }
    }

    private static func copy(of headers: HTTPHeaders, where isWanted: (String) -> Bool) -> HTTPHeaders {
        var copy = HTTPHeaders()
        copy.append(headers, where: isWanted)
        return copy
    }
}

extension HTTPHeaders {
    /// Copies lines as bytes, because a value need not be UTF-8 (RFC 9110 §5.5).
    mutating func append(_ others: HTTPHeaders, where isWanted: (String) -> Bool = { _ in true }) {
        others.storage.withUnsafeBufferPointer { storage in
            for line in others.lines {
                let name = UnsafeBufferPointer(rebasing: storage[line.name])
                guard isWanted(String(decoding: name, as: UTF8.self).lowercased()) else { continue }
                add(name, UnsafeBufferPointer(rebasing: storage[line.value]), by: line.provenance)
            }
        }
    }
}
