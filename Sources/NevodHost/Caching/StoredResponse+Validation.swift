extension StoredResponse {
    var hasValidator: Bool { headers.contains("ETag") || headers.contains("Last-Modified") }

    /// Makes a request conditional, to validate this response (RFC 9111 §4.3.1). For GET, a weak entity tag suffices (RFC 9110
    /// §13.1.2).
    func addValidators(to request: inout HTTPRequest) {
        if let tag = headers["ETag"] { request.headers.add("If-None-Match", tag, by: .host) }
        if let date = headers["Last-Modified"] { request.headers.add("If-Modified-Since", date, by: .host) }
    }

    /// Whether a 304 confirms this response (RFC 9111 §4.3.4). Without an entity tag, it refers to the one in the request.
    func isConfirmed(by notModified: HTTPResponse) -> Bool {
        guard let confirmed = notModified.headers["ETag"], let stored = headers["ETag"] else { return true }
        func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
        return opaque(confirmed) == opaque(stored)
    }

    /// This response with the lines and times of a 304 (RFC 9111 §3.2, §4.3.4).
    func updated(by notModified: HTTPResponse, requestedAt: UnixTime, receivedAt: UnixTime) -> StoredResponse {
        let lines = StoredHeaders.updated(headers, by: notModified.headers)
        let response = HTTPResponse(version: version, status: status, reason: reason, headers: lines, body: .bytes(body))
        return StoredResponse(response, body: body, requestedAt: requestedAt, receivedAt: receivedAt)
    }
}
