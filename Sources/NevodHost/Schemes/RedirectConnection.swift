internal import Glibc
internal import NevodSupport

/// One connection at a redirect URI, used by the listener's thread alone. Closed with its last reference.
final class RedirectConnection {
    /// The result of reading as much as there is.
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
    /// The most pieces read at once, so that a fast sender doesn't keep the others waiting.
    private static let mostPieces = 16

    let descriptor: Int32
    private(set) var deadline: ContinuousClock.Instant
    private let timeout: Duration
    /// A code or a token may be in both.
    private var received = WipedBytes(capacity: 1024)
    private var head: RedirectHead?
    private var headLength = 0
    /// The bytes that are known not to contain the end of the head.
    private var searched = 0

    /// - Parameter timeout: for the head; and again for the body.
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

    /// Whatever follows the form belongs to no request that is responded to, and is left out.
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
