/// Feeds a request's body to libcurl: a state machine without I/O, because libcurl's read callbacks and the asynchronous reader
/// run independently.
struct CurlUpload {
    enum Next {
        case sent(Int)
        /// Read from this reader, then call `receive`.
        case mustRead(any HTTPBodyReader)
        case wait
        case failed(TransportError)
    }

    private let body: HTTPBody
    private var reader: (any HTTPBodyReader)?
    /// The bytes read from a stream and not yet sent; for a body in memory, the whole body.
    private var pending: [UInt8] = []
    private var offset = 0
    private var sent: Int64 = 0
    private var isReading = false
    private var isAtEnd = false
    private var failure: TransportError?

    init(_ body: HTTPBody) {
        self.body = body
        if case .bytes(let bytes) = body {
            pending = bytes
            isAtEnd = true
        }
    }

    mutating func next(into space: UnsafeMutableRawBufferPointer) -> Next {
        if let failure { return .failed(failure) }
        if offset < pending.count {
            let count = min(space.count, pending.count - offset)
            pending.withUnsafeBytes { space.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
            offset += count
            sent += Int64(count)
            return .sent(count)
        }
        if isAtEnd { return .sent(0) }
        if isReading { return .wait }
        guard case .stream(let stream) = body else { return .sent(0) }
        do {
            let open = try reader ?? stream.open()
            reader = open
            isReading = true
            return .mustRead(open)
        } catch {
            return .failed(TransportError(.requestBody, "\(error)"))
        }
    }

    mutating func receive(_ result: Result<[UInt8], any Error>) {
        isReading = false
        guard case .stream(let stream) = body else { return }
        switch result {
        case .success(let bytes):
            pending = bytes
            offset = 0
            isAtEnd = bytes.isEmpty
            guard let length = stream.length else { return }
            // libcurl would wait forever for missing bytes, and cut off excess ones.
            if isAtEnd ? sent != length : sent + Int64(bytes.count) > length {
                failure = TransportError(
                    .requestBody,
                    "its reader delivered \(isAtEnd ? "only \(sent) of" : "more than the declared") \(length) bytes")
            }
        case .failure(let error):
            failure = TransportError(.requestBody, "\(error)")
        }
    }

    /// Moves back to an offset. libcurl calls it to start over when a reused connection turns out to be dead.
    mutating func rewind(to target: Int64) -> Bool {
        switch body {
        case .none: return target == 0
        case .bytes(let bytes):
            guard target >= 0, target <= bytes.count else { return false }
            offset = Int(target)
            sent = target
            return true
        case .stream(let stream):
            guard target == 0 else { return false }
            if sent == 0, reader == nil { return true }
            guard stream.isReplayable, !isReading else { return false }
            reader = nil
            pending = []
            offset = 0
            sent = 0
            isAtEnd = false
            return true
        }
    }
}
