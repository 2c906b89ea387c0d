internal import NevodSupport

/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes so far.
    public let completed: Int64
    /// Bytes in all; nil when it isn't known.
    public let total: Int64?

    init(completed: Int64, total: Int64?) {
        self.completed = completed
        self.total = total
    }

    /// From 0 to 1; nil when it isn't known.
    public var fraction: Double? {
        total.map { $0 > 0 ? Double(completed) / Double($0) : 1 }
    }
}

/// Called for every piece, on no thread in particular: it should be quick.
public typealias ProgressHandler = @Sendable (TransferProgress) -> Void

extension HTTPBody {
    /// The same body, which says how much of it the transport has taken. An attempt that starts over counts from zero again.
    /// A body in memory is taken at once and reports nothing.
    public func reporting(to progress: @escaping ProgressHandler) -> HTTPBody {
        guard case .stream(let stream) = self else { return self }
        return .stream(
            HTTPBodyStream(length: stream.length, isReplayable: stream.isReplayable) {
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
