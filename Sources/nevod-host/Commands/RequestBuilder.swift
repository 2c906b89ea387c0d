import NevodHost
import NevodSupport

/// Builds the request that the flags describe, as curl would.
struct RequestBuilder {
    let arguments: Arguments

    /// Returns the request, and the names of all `-H` lines in lower case, including lines that remove a header.
    func build() throws -> (request: HTTPRequest, typedNames: Set<String>) {
        guard let typed = arguments.operands.first else { throw UsageError("no URL given; see nevod-host --help") }
        let content = try RequestContent(arguments: arguments)
        guard !arguments.has(.headOnly) || content.method == .get else {
            throw UsageError("-I sends no content; leave out -d, --json, -F or -T, or write -i in place of -I")
        }
        let url = Self.url(typed, uploading: content.uploadName)
        var request = try HTTPRequest(method(of: content), url, body: content.body)
        if let proto = arguments.value(.proto) { try AllowedProtocols(proto).check(request) }
        try content.query.map { try request.appendQuery($0) }
        try ItemContent.query(arguments.items).map { try request.appendQuery($0) }
        let agent = arguments.value(.userAgent) ?? Self.defaultAgent
        if !agent.isEmpty { try request.setHeader("User-Agent", agent) }
        try request.setHeader("Accept", content.accept)
        try Resumption(arguments).range.map { try request.setHeader("Range", $0) }
        try content.type.map { try request.setHeader("Content-Type", $0) }
        if let referer = referer { try request.setHeader("Referer", referer) }
        if let cookies = CookieOptions.text(of: arguments) { try request.setHeader("Cookie", cookies) }
        let typedNames = try addHeaders(to: &request, content)
        return (request, typedNames)
    }

    static let defaultAgent = "nevod-host/\(Version.text)"

    /// The URL of `-e`, without `;auto`.
    private var referer: String? {
        guard let text = arguments.value(.referer) else { return nil }
        let url = text.hasSuffix(";auto") ? String(text.dropLast(5)) : text
        return url.isEmpty ? nil : url
    }

    /// Appends the name of the uploaded file to a URL without a path, or with a slash at its end, as curl does.
    private static func url(_ url: String, uploading name: String?) -> String {
        guard let name else { return url }
        let end = url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.utf8.endIndex
        let path = url.utf8[..<end]
        // Skips the colon and the two slashes after the scheme.
        let hasPath = path.drop { $0 != UInt8(ascii: ":") }.dropFirst(3).contains(UInt8(ascii: "/"))
        guard !hasPath || path.last == UInt8(ascii: "/") else { return url }
        let encoded = String(decoding: PercentEncoding.queryItem(name.utf8), as: UTF8.self)
        return "\(Substring(path))\(hasPath ? "" : "/")\(encoded)\(url[end...])"
    }

    private func method(of content: RequestContent) throws -> HTTPMethod {
        try arguments.value(.method).map(HTTPMethod.init(validating:)) ?? (arguments.has(.headOnly) ? .head : content.method)
    }
}
