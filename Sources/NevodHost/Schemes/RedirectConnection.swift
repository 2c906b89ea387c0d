internal import Glibc
internal import NevodSupport

/// One connection at a redirect URI, used by the listener's thread alone. Closed with its last reference.
final class RedirectConnection {
    /// The result of reading all that has arrived.
    enum Progress {
        /// More has to arrive.
        case incomplete
        /// The peer has closed the connection, or it broke.
        case closed
        case refused(RedirectHead.Refusal)
        case complete(target: String, form: Secret?)
    }

    private static let longestHead = 32 << 10
    private static let piece = 16 << 10
    /// How many pieces are read in a row, so that a fast sender doesn't keep the others waiting.
    private static let mostPieces = 16

    let descriptor: Int32
    private(set) var deadline: ContinuousClock.Instant
    private let timeout: Duration
    /// The head and the body; either may contain a code or a token.
    private var received = WipedBytes(capacity: 1024)
    private var head: RedirectHead?
    private var headLength = 0
    /// How many bytes are known not to contain the end of the head.
    private var searched = 0

    /// - Parameter timeout: the time limit for the head, and again for the body.
    init(_ descriptor: Int32, timeout: Duration) {
        self.descriptor = descriptor
        self.timeout = timeout
        deadline = .now + timeout
    }

    deinit {
        close(descriptor)
    }

    /// Reads without waiting.
    ///
    /// - Parameter parse: checks a head.
    func receive(_ parse: (UnsafeRawBufferPointer) -> Result<RedirectHead, RedirectHead.Refusal>) -> Progress {
        for _ in 0..<Self.mostPieces {
            let count = withUnsafeTemporaryAllocation(byteCount: Self.piece, alignment: 1) { piece in
                let count = recv(descriptor, piece.baseAddress, piece.count, Int32(MSG_DONTWAIT))
                if count > 0 {
                    received.append(UnsafeRawBufferPointer(rebasing: piece[..<count]))
                    UnsafeMutableRawBufferPointer(rebasing: piece[..<count]).wipe()
                }
                return count
            }
            if count < 0, errno == EAGAIN || errno == EINTR { return .incomplete }
            guard count > 0 else { return .closed }
            if head == nil {
                switch received.withUnsafeBytes({ Self.head(in: $0, from: searched, parse) }) {
                case nil:
                    guard received.count <= Self.longestHead else { return .refused(.tooLarge) }
                    searched = max(0, received.count - 3)
                    continue
                case .failure(let refusal): return .refused(refusal)
                case .success(let (head, length)):
                    (self.head, headLength) = (head, length)
                    deadline = .now + timeout
                }
            }
            if let head, received.count - headLength >= head.bodyLength {
                return .complete(target: head.target, form: form(head))
            }
        }
        return .incomplete
    }

    /// Returns nil if the head is not complete.
    private static func head(
        in bytes: UnsafeRawBufferPointer, from start: Int,
        _ parse: (UnsafeRawBufferPointer) -> Result<RedirectHead, RedirectHead.Refusal>
    ) -> Result<(RedirectHead, length: Int), RedirectHead.Refusal>? {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        let last = min(bytes.count, longestHead) - end.count
        guard last >= start, let index = (start...last).first(where: { bytes[$0...].starts(with: end) }) else { return nil }
        let head = UnsafeRawBufferPointer(rebasing: bytes[..<(index + end.count)])
        return parse(head).map { ($0, head.count) }
    }

    /// Returns the form without any bytes after it: they belong to a request that gets no response.
    private func form(_ head: RedirectHead) -> Secret? {
        received.withUnsafeBytes { bytes in
            guard head.bodyLength > 0 else { return nil }
            return Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[headLength..<(headLength + head.bodyLength)]))
        }
    }

    func respond(_ status: Int, _ reason: String, _ text: String) {
        let response = """
            HTTP/1.1 \(status) \(reason)\r
            Content-Type: text/plain; charset=utf-8\r
            Cache-Control: no-store\r
            Content-Length: \(text.utf8.count)\r
            Connection: close\r
            \r
            \(text)
            """
        let bytes = Array(response.utf8)
        _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
}

/// The head of a request at a redirect URI, after all checks.
struct RedirectHead {
    /// Why a request is refused; the raw value is the status of the response.
    enum Refusal: Int, Error {
        case malformed = 400
        /// Another path, method or host, such as a browser's request for an icon.
        case notFound = 404
        case lengthRequired = 411
        case tooLarge = 413
        case otherType = 415

        var reason: String {
            switch self {
            case .malformed: "Bad Request"
            case .notFound: "Not Found"
            case .lengthRequired: "Length Required"
            case .tooLarge: "Content Too Large"
            case .otherType: "Unsupported Media Type"
            }
        }
    }

    /// The request-target, with its query.
    let target: String
    /// The length of a form; 0 for a GET.
    let bodyLength: Int

    /// - Parameters:
    ///   - bytes: up to and including the empty line.
    ///   - authorities: the valid values of Host. An attacker's own name may resolve to this machine (DNS rebinding).
    ///   - largestBody: in bytes.
    init(_ bytes: UnsafeRawBufferPointer, _ uri: RedirectURI, authorities: [String], largestBody: Int) throws(Refusal) {
        let lines = bytes.dropLast(4).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        var rest = lines.map { $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0 }[...]
        guard let requestLine = rest.popFirst() else { throw .malformed }
        let words = requestLine.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 3, words[1].allSatisfy(\.isVisible) else { throw .malformed }
        let fields = try rest.map(Self.field)
        func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

        target = String(decoding: words[1], as: UTF8.self)
        let hosts = values("host")
        guard words[0].elementsEqual((uri.isFormPost ? "POST" : "GET").utf8),
            target == uri.path || target.hasPrefix("\(uri.path)?"), hosts.count == 1, authorities.contains(hosts[0].lowercased())
        else { throw .notFound }
        guard uri.isFormPost else {
            bodyLength = 0
            return
        }
        guard values("transfer-encoding").isEmpty else { throw .lengthRequired }
        let lengths = values("content-length")
        guard let text = lengths.first else { throw .lengthRequired }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { throw .malformed }
        // A number that overflows is too large, too.
        guard let length = Int(text), length <= largestBody else { throw .tooLarge }
        let types = values("content-type").map { $0.prefix { $0 != ";" && $0 != " " && $0 != "\t" }.lowercased() }
        guard types == ["application/x-www-form-urlencoded"] else { throw .otherType }
        bodyLength = length
    }

    private static func field(_ line: Slice<UnsafeRawBufferPointer>) throws(Refusal) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(\.isVisible), !line.contains(where: { $0 == 0 || $0 == UInt8(ascii: "\r") })
        else { throw .malformed }
        let value = line[(colon + 1)...].trimmedOfBlanks
        return (String(decoding: line[..<colon], as: UTF8.self).lowercased(), String(decoding: value, as: UTF8.self))
    }
}
