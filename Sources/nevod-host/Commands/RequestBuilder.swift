import NevodHost

/// Makes the request that the flags describe, as curl would.
struct RequestBuilder {
    let arguments: Arguments

    func request() throws -> HTTPRequest {
        guard let url = arguments.operands.first else { throw UsageError("no URL given; see nevod-host --help") }
        guard arguments.operands.count == 1 else {
            throw UsageError("one URL at a time; \"\(arguments.operands[1])\" is one too many (an option goes before it with -)")
        }
        let body = try data()
        var request = try HTTPRequest(method(hasBody: body != nil), url, body: body.map { .bytes($0) } ?? .none)
        try request.setHeader("User-Agent", "nevod-host/\(Version.text)")
        if body != nil { try request.setHeader("Content-Type", "application/x-www-form-urlencoded") }
        try addHeaders(to: &request)
        return request
    }

    private func method(hasBody: Bool) throws -> HTTPMethod {
        guard let text = arguments.value(.method) else { return hasBody ? .post : .get }
        guard let method = HTTPMethod(rawValue: text) else {
            throw UsageError("-X \"\(text)\" is not a method")
        }
        return method
    }

    private func data() throws -> [UInt8]? {
        var pieces: [[UInt8]] = []
        for (name, value) in arguments.flags where name == .data || name == .dataBinary {
            guard value.hasPrefix("@") else {
                pieces.append(Array(value.utf8))
                continue
            }
            let content = try readFile(String(value.dropFirst()))
            pieces.append(name == .dataBinary ? content : content.filter { $0 != 10 && $0 != 13 && $0 != 0 })
        }
        return pieces.isEmpty ? nil : Array(pieces.joined(separator: [UInt8(ascii: "&")]))
    }

    private func addHeaders(to request: inout HTTPRequest) throws {
        var seen: Set<String> = []
        for line in try headerLines() {
            let name = line.prefix { $0 != ":" && $0 != ";" }
            let rest = line.dropFirst(name.count)
            let value = rest.dropFirst().drop { $0 == " " || $0 == "\t" }
            let key = name.lowercased()
            if rest.isEmpty {
                throw UsageError("-H \"\(name)\" is no header line; write \"Name: value\"")
            } else if rest.first == ":", value.isEmpty {
                request.removeHeader(String(name))
            } else if seen.insert(key).inserted {
                // The first one replaces what this program would have sent by itself.
                try request.setHeader(String(name), rest.first == ";" ? "" : String(value))
            } else {
                try request.addHeader(String(name), rest.first == ";" ? "" : String(value))
            }
        }
    }

    private func headerLines() throws -> [String] {
        try arguments.values(.header).flatMap { value in
            guard value.hasPrefix("@") else { return [value] }
            return String(decoding: try readFile(String(value.dropFirst())), as: UTF8.self)
                .split(whereSeparator: \.isNewline).map(String.init)
        }
    }
}
