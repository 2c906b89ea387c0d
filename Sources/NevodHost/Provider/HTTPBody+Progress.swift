internal import NevodSupport

extension HTTPBody {
    /// Returns the same body, which reports how much of it the transport has read. Every attempt counts from zero again. A body
    /// in memory reports nothing, since the transport takes it at once.
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
