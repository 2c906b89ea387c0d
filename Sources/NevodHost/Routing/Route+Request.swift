internal import NevodSupport

extension Route {
    /// Creates the route's request, before any interceptor runs.
    ///
    /// - Throws: ``NetworkError/invalidURL(_:)`` if the endpoint is invalid or the domain has no environment;
    ///   ``NetworkError/invalidRequest(_:)`` if a header is invalid; ``NetworkError/bodyEncodingFailed(_:)``.
    public func makeRequest(with config: NetworkConfig) throws(NetworkError) -> HTTPRequest {
        guard let environment = config.environment(for: domain) else {
            throw .invalidURL(
                InvalidRequestError(
                    .url(endpoint),
                    "the configuration has no environment for the domain \"\(domain.identifier)\" (\(Domain.self))"))
        }
        let content = try encodedBody(config.encoder)
        do throws(InvalidRequestError) {
            let url = try RouteURL.make(
                base: environment.baseURL.urlString, endpoint: endpoint,
                parameters: [queryList] + (parameterEncoding == .query ? [parameterList] : []))
            var request = try HTTPRequest(method, url, body: content?.content ?? .none)
            if let type = content?.contentType { try request.setHeader("Content-Type", type) }
            for (name, value) in (headers ?? [:]).sorted(by: { $0.key < $1.key }) { try request.setHeader(name, value) }
            request.route = RouteDescription(
                domain: domain.identifier, of: Domain.self, endpoint: endpoint, template: endpointTemplate,
                method: method, auth: auth, type: Self.self)
            return request
        } catch {
            throw NetworkError(error)
        }
    }

    private func encodedBody(_ encoder: any BodyEncoder) throws(NetworkError) -> RouteBody? {
        do {
            return try body(using: encoder)
        } catch let error as NetworkError {
            throw error
        } catch let error as InvalidRequestError {
            throw NetworkError(error)
        } catch {
            throw .bodyEncodingFailed(error)
        }
    }

    /// Decodes a response's body.
    func decode(_ response: HTTPResponse, _ body: [UInt8], with decoder: any BodyDecoder) throws(NetworkError) -> Response {
        guard let decoder = decoder as? Decoder else {
            let mismatch = DecoderMismatchError(wanted: "\(Decoder.self)", configured: "\(type(of: decoder))")
            throw .parsingError(mismatch, data: body, response: response)
        }
        do {
            return try decode(Payload(body), using: decoder)
        } catch {
            throw .parsingError(error, data: body, response: response)
        }
    }
}

/// A route's `decode` takes a type of decoder that the configuration doesn't have.
struct DecoderMismatchError: Error, CustomStringConvertible {
    let wanted: String
    let configured: String

    var description: String { "the route needs a decoder of type \(wanted), but the configuration's is a \(configured)" }
}

/// Builds the URL of a route from the service's base URL, the endpoint and the parameters.
enum RouteURL {
    /// - Parameters:
    ///   - base: an absolute URL. Its path comes before the endpoint's path, and its query before the other queries.
    ///   - endpoint: a path, with or without a leading slash, and optionally a query. Kept byte for byte.
    ///   - parameters: appended to the query, list by list.
    static func make(base: String, endpoint: String, parameters: [ParameterList]) throws(InvalidRequestError) -> String {
        guard !base.utf8.contains(UInt8(ascii: "#")) else {
            throw InvalidRequestError(.url(base), "a service's base URL can't have a fragment")
        }
        try check(endpoint)
        let (basePath, baseQuery) = split(base)
        let (path, query) = split(endpoint)
        var url = String(basePath)
        if !path.isEmpty {
            while url.utf8.last == UInt8(ascii: "/") { url.removeLast() }
            url += path.utf8.first == UInt8(ascii: "/") ? "" : "/"
            url += path
        }
        let queries = [baseQuery, query].compactMap { $0.map(String.init) } + parameters.map(\.query).filter { !$0.isEmpty }
        guard !queries.isEmpty else { return url }
        // A question mark at the end of an endpoint is kept.
        return url + "?" + queries.filter { !$0.isEmpty }.joined(separator: "&")
    }

    /// Splits off the query, without its question mark; nil if there is none.
    private static func split(_ text: String) -> (path: Substring, query: Substring?) {
        guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return (text[...], nil) }
        return (text[..<mark], text[text.utf8.index(after: mark)...])
    }

    /// Rejects endpoints that this host, a proxy or the server could resolve to a path outside the service, since parts of an
    /// endpoint can come from untrusted input.
    private static func check(_ endpoint: String) throws(InvalidRequestError) {
        let bytes = Array(endpoint.utf8)
        let path = bytes.prefix { $0 != UInt8(ascii: "?") }
        let problem: String? =
            if bytes.contains(where: \.isControl) {
                "it holds a control character, such as a line break"
            } else if bytes.contains(UInt8(ascii: "#")) {
                "it holds a fragment, which is never sent; write # as %23"
            } else if path.contains(UInt8(ascii: "\\")) {
                "it holds a backslash, which some servers treat as a slash; write it as %5C"
            } else if path.starts(with: [UInt8(ascii: "/"), UInt8(ascii: "/")]) {
                "it starts with //, which precedes a host; an endpoint is a path"
            } else if startsWithScheme(path) {
                "it is an absolute URL; an endpoint is a path below the service's base URL"
            } else if hasDotSegment(path) {
                "it has . or .. as a segment, which leads to another folder"
            } else {
                nil
            }
        if let problem { throw InvalidRequestError(.url(endpoint), problem) }
    }

    /// Whether the path starts with a scheme, as in `https:/`. A colon without a slash belongs to the path, as in `/users:batch`.
    private static func startsWithScheme(_ path: ArraySlice<UInt8>) -> Bool {
        guard let colon = path.firstIndex(of: UInt8(ascii: ":")), path[colon...].dropFirst().first == UInt8(ascii: "/") else {
            return false
        }
        return path[..<colon].allSatisfy(\.isSchemeByte)
    }

    /// Whether any server on the way could see a dot segment. Servers may decode percent-encodings once or repeatedly, take an
    /// encoded slash or backslash for a separator, and take text after a semicolon for a parameter of the segment (RFC 3986
    /// §3.3).
    private static func hasDotSegment(_ path: ArraySlice<UInt8>) -> Bool {
        var text = Array(path)
        while true {
            let segments = text.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            for segment in segments {
                let name = segment.prefix { $0 != UInt8(ascii: ";") }
                if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) { return true }
            }
            let decoded = PercentEncoding.decoded(text)
            // Each round shortens the text, or is the last.
            guard decoded.count < text.count else { return false }
            text = decoded
        }
    }
}
