internal import NevodSupport

/// The progress of an upload or download.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes transferred so far.
    public let completed: Int64
    /// The total number of bytes; nil if it isn't known.
    public let total: Int64?

    /// Creates a value, for tests and custom transports.
    public init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// The completed fraction, from 0 to 1; nil if the total isn't known.
    public var fraction: Double? {
        total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
    }
}

/// Receives the progress after every piece. Called on any thread, so it should return quickly.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

extension HTTPBody {
    /// Returns the same body, which then reports how much of it the transport has read. Every attempt counts from zero again. A
    /// body in memory reports nothing, since the transport takes it at once.
    public func reporting(to progress: @escaping ProgressHandler) -> HTTPBody {
        guard case .stream(let stream) = self else { return self }
        return .stream(
            HTTPBodyStream(reporting: stream) {
                ReportingReader(try stream.makeReader(), total: stream.length, progress)
            })
    }
}

private final class ReportingReader: HTTPBodyReader {
    private let reader: any HTTPBodyReader
    private let total: Int64?
    private let progress: ProgressHandler
    private let completed = Locked<Int64>(0)

    init(_ reader: any HTTPBodyReader, total: Int64?, _ progress: @escaping ProgressHandler) {
        self.reader = reader
        self.total = total
        self.progress = progress
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        let bytes = try await reader.read(upTo: count)
        guard !bytes.isEmpty else { return bytes }
        let completed = completed.withLock { completed in
            completed += Int64(bytes.count)
            return completed
        }
        progress(TransferProgress(completed: completed, total: total))
        return bytes
    }
}
