import NevodHost
import NevodSupport

/// Builds the request that the flags describe, as curl would.
struct RequestBuilder {
    let arguments: Arguments

    func request() throws -> HTTPRequest {
        guard let url = arguments.operands.first else { throw UsageError("no URL given; see nevod-host --help") }
        guard arguments.operands.count == 1 else {
            throw UsageError("only one URL is allowed, but \(arguments.operands.count) were given")
        }
        let content = try RequestContent(arguments: arguments)
        var request = try HTTPRequest(method(of: content), url, body: content.body)
        try content.query.map { try request.appendQuery($0) }
        try request.setHeader("User-Agent", "nevod-host/\(Version.text)")
        try request.setHeader("Accept", content.accept)
        try content.type.map { try request.setHeader("Content-Type", $0) }
        try addHeaders(to: &request)
        return request
    }

    private func method(of content: RequestContent) throws -> HTTPMethod {
        try arguments.value(.method).map(HTTPMethod.init(validating:)) ?? content.method
    }

    /// Splits lines by bytes: a combining mark at the beginning of a value is part of the value.
    private func addHeaders(to request: inout HTTPRequest) throws {
        var seen: Set<String> = []
        for line in try headerLines() {
            let nameBytes = line.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
            let rest = line.utf8[nameBytes.endIndex...]
            let name = String(decoding: nameBytes, as: UTF8.self)
            let value = String(
                decoding: rest.dropFirst().drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }, as: UTF8.self)
            if rest.isEmpty {
                throw UsageError("-H \"\(name)\" is not a header line; write \"Name: value\"")
            } else if rest.first == UInt8(ascii: ":"), value.isEmpty {
                request.removeHeader(name)
            } else if seen.insert(name.lowercased()).inserted {
                // The first line of a name replaces the program's own default.
                try request.setHeader(name, rest.first == UInt8(ascii: ";") ? "" : value)
            } else {
                try request.addHeader(name, rest.first == UInt8(ascii: ";") ? "" : value)
            }
        }
    }

    private func headerLines() throws -> [String] {
        try arguments.values(.header).flatMap { value in
            guard value.hasPrefix("@") else { return [value] }
            return try readFile(String(value.dropFirst())).split(separator: UInt8(ascii: "\n"))
                .map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }
                .filter { !$0.isEmpty }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
