internal import NevodSupport

/// Parses the status line and header lines of a response as they arrive (RFC 9112 §2.2, §4, §5). Skips interim responses (1xx).
struct ResponseHead {
    private(set) var isComplete = false
    private var version = HTTPResponse.Version.http11
    private var status = 0
    private var reason = ""
    private var headers = HTTPHeaders()
    /// Whether the next line is a status line. After the status line, libcurl treats a line that begins like a status line as a
    /// header line.
    private var isAtStart = true

    /// The limit for all lines together, in bytes; a larger head is treated as an attack.
    private let limit: Int
    private var received = 0

    init(limit: Int) {
        self.limit = limit
    }

    /// - Parameter line: a line as received, with its line break.
    mutating func receive(_ line: UnsafeBufferPointer<UInt8>) throws(TransportError) {
        received += line.count
        guard received <= limit else {
            throw TransportError(.headTooLarge(limit: limit), curlCode: Self.weirdReply)
        }
        var text = line
        while let last = text.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") {
            text = .init(rebasing: text.dropLast())
        }
        guard !HTTPSyntax.isFieldValue(text) else { return try receive(text: text) }
        // Such bytes become spaces (RFC 9110 §5.5): they would end the line in a program that sends or stores the value again.
        try text.map { Self.endsLine($0) ? UInt8(ascii: " ") : $0 }
            .withUnsafeBufferPointer { (text) throws(TransportError) in try receive(text: text) }
    }

    /// - Parameter text: a line without its line break.
    private mutating func receive(text: UnsafeBufferPointer<UInt8>) throws(TransportError) {
        defer { isAtStart = text.isEmpty }
        if text.isEmpty {
            isComplete = status >= 200
            if isComplete {
                try checkLength()
                try checkTransferCoding()
            }
        } else if isAtStart,
            text.starts(with: [
                UInt8(ascii: "H"), UInt8(ascii: "T"), UInt8(ascii: "T"), UInt8(ascii: "P"), UInt8(ascii: "/"),
            ])
        {
            try receiveStatus(text)
        } else if let first = text.first, first.isBlank {
            headers.continueLast(HTTPSyntax.trimmed(text))
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            headers.add(
                UnsafeBufferPointer(rebasing: text[..<colon]), UnsafeBufferPointer(rebasing: text[(colon + 1)...]), by: .host)
        }
    }

    /// Rejects conflicting lengths, which request smuggling relies on (RFC 9112 §6.3).
    private func checkLength() throws(TransportError) {
        let lengths = Set(headers.values(of: "Content-Length"))
        guard lengths.count <= 1, lengths.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(\.isDigit) }) else {
            throw TransportError(.malformedResponse, "its Content-Length is not one number", curlCode: Self.weirdReply)
        }
    }

    /// Rejects transfer codings other than `chunked`. Requests don't ask for any (RFC 9112 §7.4). libcurl would undo them without
    /// a limit, and would accept a body that ends too early.
    private func checkTransferCoding() throws(TransportError) {
        let codings = headers.values(of: "Transfer-Encoding")
        guard codings.allSatisfy({ ["chunked", "identity"].contains($0.lowercased()) }) else {
            throw TransportError(
                .malformedResponse, "it has a transfer coding that was not asked for", curlCode: Self.weirdReply)
        }
    }

    /// Whether some readers take a byte for the end of a line.
    private static func endsLine(_ byte: UInt8) -> Bool {
        byte == 0 || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }

    /// CURLE_WEIRD_SERVER_REPLY, for malformed responses that libcurl accepts.
    private static let weirdReply: Int32 = 8

    /// The values of Content-Encoding, if the response can have a body (RFC 9112 §6.3).
    var contentCodings: [String] { status == 204 || status == 304 ? [] : headers.values(of: "Content-Encoding") }

    /// Whether the response says where its body ends; otherwise it ends with the connection.
    var isDelimited: Bool {
        version == .http2 || version == .http3 || headers.contains("Content-Length")
            || headers.values(of: "Transfer-Encoding").contains { $0.lowercased() == "chunked" }
    }

    var contentLength: Int? { headers["Content-Length"].flatMap { Int($0) } }

    func response(_ body: HTTPResponseBody) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: body)
    }

    private mutating func receiveStatus(_ line: UnsafeBufferPointer<UInt8>) throws(TransportError) {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        let name = String(decoding: parts[0].dropFirst(5), as: UTF8.self)
        guard parts.count >= 2, let version = HTTPResponse.Version(rawValue: name), parts[1].count == 3,
            let status = Int(String(decoding: parts[1], as: UTF8.self)), status >= 100, status <= 599
        else { throw TransportError(.malformedResponse, "its status line is invalid", curlCode: Self.weirdReply) }
        self.version = version
        self.status = status
        reason = parts.count > 2 ? String(decoding: parts[2], as: UTF8.self) : ""
        headers = HTTPHeaders()
    }
}
