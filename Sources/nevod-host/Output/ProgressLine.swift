import Glibc
import NevodHost
import NevodSupport

/// A progress bar on standard error if that is a capable terminal; otherwise nothing.
struct ProgressLine {
    private var bar: ProgressBar?
    private var done: Int64 = 0

    init(isShown: Bool, name: String) {
        guard isShown, isatty(STDERR_FILENO) == 1, environment("TERM") != "dumb" else { return }
        bar = ProgressBar(name: TerminalText.safe(name), at: ProgressBar.now())
    }

    mutating func advance(by count: Int, of total: Int64?) {
        done += Int64(count)
        bar?.update(done: done, total: total, at: ProgressBar.now())
    }

    func isComplete(_ total: Int64?) -> Bool { done == total }

    mutating func clear() {
        bar?.clear()
    }

    mutating func finish() {
        bar?.finish(at: ProgressBar.now())
    }
}

extension HTTPBody {
    /// Returns the same body with a progress line for the upload.
    func showingProgress(name: String, isShown: Bool) -> HTTPBody {
        guard case .stream(let stream) = self else { return self }
        return .stream(
            HTTPBodyStream(length: stream.length, isReplayable: stream.isReplayable) {
                CountingReader(try stream.makeReader(), ProgressLine(isShown: isShown, name: name), total: stream.length)
            })
    }
}

private final class CountingReader: HTTPBodyReader {
    private let reader: any HTTPBodyReader
    private let progress: Locked<ProgressLine>
    private let total: Int64?

    init(_ reader: any HTTPBodyReader, _ progress: sending ProgressLine, total: Int64?) {
        self.reader = reader
        self.progress = Locked(progress)
        self.total = total
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        let piece = try await reader.read(upTo: count)
        progress.withLock { progress in
            progress.advance(by: piece.count, of: total)
            // The transport doesn't read past a known length, so an empty piece may never come.
            if piece.isEmpty || progress.isComplete(total) { progress.finish() }
        }
        return piece
    }
}
