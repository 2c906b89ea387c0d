/// Which lines of an answer are stored.
enum StoredHeaders {
    /// Of the connection (RFC 9110 §7.6.1) or of a proxy that the cache's key doesn't name (RFC 9111 §3.1).
    private static let hopByHop: Set<String> = [
        "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate",
        "proxy-authentication-info", "proxy-authorization",
    ]

    /// Of the one exchange that they came in: repeated, an old cookie would replace a newer one, and a spent nonce a fresh one
    /// (RFC 6265, RFC 9110 §11.6.3, RFC 9449 §8).
    private static let ofOneExchange: Set<String> = ["set-cookie", "set-cookie2", "authentication-info", "dpop-nonce"]

    /// What a 304 doesn't change (RFC 9111 §3.2): they describe the stored bytes, which the transport may have decoded.
    private static let ofTheBody: Set<String> = ["content-length", "content-encoding", "content-range"]

    static func kept(of headers: HTTPHeaders) -> HTTPHeaders {
        let named = headers.values(of: "Connection").flatMap { $0.split(separator: ",") }
            .map { $0.lowercased().filter { $0 != " " && $0 != "\t" } }
        return copy(of: headers) { !hopByHop.contains($0) && !ofOneExchange.contains($0) && !named.contains($0) }
    }

    /// Stored lines with those of a 304 in place of their namesakes (RFC 9111 §3.2).
    static func updated(_ stored: HTTPHeaders, by notModified: HTTPHeaders) -> HTTPHeaders {
        let news = copy(of: kept(of: notModified)) { !ofTheBody.contains($0) }
        let names = Set(news.map { $0.name.lowercased() })
        // The age and date of the old answer say nothing about one that the origin has just confirmed.
        var result = copy(of: stored) { !names.contains($0) && $0 != "age" && $0 != "date" }
        result.append(news)
        return result
    }

    /// The lines that are for the caller of this exchange alone.
    static func forOneExchange(of headers: HTTPHeaders) -> HTTPHeaders {
        copy(of: headers) { ofOneExchange.contains($0) }
    }

    private static func copy(of headers: HTTPHeaders, where isWanted: (String) -> Bool) -> HTTPHeaders {
        var copy = HTTPHeaders()
        for line in headers where isWanted(line.name.lowercased()) { copy.add(line.name, line.value, by: line.provenance) }
        return copy
    }
}

extension HTTPHeaders {
    mutating func append(_ others: HTTPHeaders) {
        for line in others { add(line.name, line.value, by: line.provenance) }
    }
}
