/// Collects the lines of an answer's head as they come (RFC 9112 §2.2, §4, §5). Interim answers (1xx) are passed over.
struct ResponseHead {
    private(set) var isComplete = false
    private var version = HTTPResponse.Version.http11
    private var status = 0
    private var reason = ""
    private var headers = HTTPHeaders()

    /// Of all lines together, in bytes; a head that is longer is an attack.
    private let largest: Int
    private var received = 0

    init(largest: Int) {
        self.largest = largest
    }

    /// - Parameter line: as received, with its line break.
    mutating func receive(_ line: UnsafeBufferPointer<UInt8>) throws(TransportError) {
        received += line.count
        guard received <= largest else {
            throw TransportError(.headTooLarge(limit: largest), curlCode: Self.weirdReply)
        }
        var text = line
        while let last = text.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") {
            text = .init(rebasing: text.dropLast())
        }
        if text.isEmpty {
            isComplete = status >= 200
            if isComplete { try checkLength() }
        } else if text.starts(with: [
            UInt8(ascii: "H"), UInt8(ascii: "T"), UInt8(ascii: "T"), UInt8(ascii: "P"), UInt8(ascii: "/"),
        ]) {
            try receiveStatus(text)
        } else if let first = text.first, first == UInt8(ascii: " ") || first == UInt8(ascii: "\t") {
            headers.continueLast(HTTPSyntax.trimmed(text))
        } else if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            headers.add(
                UnsafeBufferPointer(rebasing: text[..<colon]), UnsafeBufferPointer(rebasing: text[(colon + 1)...]), by: .host)
        }
    }

    /// Which of two lengths is right is what request smuggling is about (RFC 9112 §6.3).
    private func checkLength() throws(TransportError) {
        let lengths = Set(headers.values(of: "Content-Length"))
        guard lengths.count <= 1, lengths.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(Self.isDigit) }) else {
            throw TransportError(.malformedResponse, "its Content-Length is no number, or several", curlCode: Self.weirdReply)
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// CURLE_WEIRD_SERVER_REPLY, for what libcurl lets pass.
    private static let weirdReply: Int32 = 8

    var contentLength: Int? { headers["Content-Length"].flatMap { Int($0) } }

    func response(_ body: HTTPResponseBody) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: body)
    }

    private mutating func receiveStatus(_ line: UnsafeBufferPointer<UInt8>) throws(TransportError) {
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        let name = String(decoding: parts[0].dropFirst(5), as: UTF8.self)
        guard parts.count >= 2, let version = HTTPResponse.Version(rawValue: name), parts[1].count == 3,
            let status = Int(String(decoding: parts[1], as: UTF8.self)), status >= 100, status <= 599
        else { throw TransportError(.malformedResponse, "its status line can't be read", curlCode: Self.weirdReply) }
        self.version = version
        self.status = status
        reason = parts.count > 2 ? String(decoding: parts[2], as: UTF8.self) : ""
        headers = HTTPHeaders()
    }
}
