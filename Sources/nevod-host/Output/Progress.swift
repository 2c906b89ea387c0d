import CLinux
import Glibc
import NevodHost
import NevodSupport

/// The progress of a download or an upload, and its line of text.
struct Progress {
    /// The name shown, usually the file's.
    var name: String
    var done: Int64
    /// Nil if the length is unknown.
    var total: Int64?
    /// The recent rate in bytes per second; nil before the first measurement.
    var rate: Double?
    /// Seconds since the start.
    var elapsed: Double
    var isFinished = false

    /// Returns one line, narrower than the terminal: a terminal wraps when its last column is written.
    ///
    ///     orders.json   42% [########            ]  12.6 MiB / 30.0 MiB   1.2 MiB/s   0:15
    func line(width: Int) -> String {
        let columns = max(0, width - 1)
        let name = TerminalText.safe(name)
        var facts = [bytesText, rate.map { "\(Units.bytes($0))/s" } ?? "--/s", timeText]
        if let percentage { facts.insert("\(percentage < 10 ? "  " : percentage < 100 ? " " : "")\(percentage)%", at: 0) }
        // Without enough room, the name is shortened first; then name, time and rate are dropped.
        let plain = facts.joined(separator: "  ")
        let room = columns - plain.count - 2
        guard room >= 8 || room >= Self.columns(of: name) else {
            for count in stride(from: facts.count, through: 1, by: -1) {
                let shorter = facts.prefix(count).joined(separator: "  ")
                if shorter.count <= columns { return shorter }
            }
            return String(plain.prefix(columns))
        }
        let shown = Self.shortened(name, to: room)
        let bar = bar(width: min(40, room - Self.columns(of: shown) - 2))
        guard let bar, percentage != nil else { return "\(shown)  \(plain)" }
        return "\(shown)  \(facts[0]) \(bar) \(facts.dropFirst().joined(separator: "  "))"
    }

    /// Less than 100 until everything is transferred.
    private var percentage: Int? {
        guard let total, total >= 0 else { return nil }
        guard done < total else { return 100 }
        return Int(max(0, Double(done)) / Double(total) * 100)
    }

    private var bytesText: String {
        let text = Units.bytes(Double(done))
        guard let total, total > done else { return text }
        return "\(text) / \(Units.bytes(Double(total)))"
    }

    /// The remaining time; the elapsed time if finished or if the length is unknown.
    private var timeText: String {
        guard !isFinished, let total else { return Units.clock(elapsed) }
        guard let rate, rate > 0 else { return Units.clock(nil) }
        return Units.clock(max(0, Double(total) - Double(done)) / rate)
    }

    private func bar(width: Int) -> String? {
        guard let percentage, width >= 12 else { return nil }
        let inner = width - 2
        let filled = inner * percentage / 100
        return "[" + String(repeating: "#", count: filled) + String(repeating: " ", count: inner - filled) + "]"
    }

    /// Shortens a name at its start: file names differ at their ends.
    private static func shortened(_ name: String, to columns: Int) -> String {
        guard Self.columns(of: name) > columns else { return name }
        guard columns > 3 else { return String(repeating: ".", count: max(0, columns)) }
        var rest = name[...]
        while Self.columns(of: rest) > columns - 3 { rest.removeFirst() }
        return "..." + rest
    }

    /// Returns an upper bound of the columns: each character that may be wide counts as two.
    private static func columns(of text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x300 ? 1 : 2) }
    }
}

/// Shows a download or an upload on one line of the terminal, redrawn at most ten times a second.
///
/// Callers pass the time, in seconds of a monotonic clock such as `ProgressBar.now()`.
struct ProgressBar {
    private var progress: Progress
    private let start: Double
    private let width: () -> Int
    private let write: (String) -> Void
    private var lastDrawn: Double
    private var sample: (done: Int64, time: Double)
    private var isDrawn = false

    static let interval = 0.1
    /// The seconds over which the rate is averaged. Fewer would flicker, more would lag.
    private static let memory = 3.0

    /// - Parameters:
    ///   - now: the start. Nothing is drawn in the first tenth of a second, so that quick transfers don't flash.
    ///   - width: called before each drawing, since a window's size may change.
    init(
        name: String, at now: Double,
        width: @escaping () -> Int = { TerminalSize.columns(of: STDERR_FILENO) },
        write: @escaping (String) -> Void = Console.write
    ) {
        progress = Progress(name: name, done: 0, total: nil, rate: nil, elapsed: 0)
        start = now
        lastDrawn = now
        sample = (0, now)
        self.width = width
        self.write = write
    }

    /// Updates the numbers, and draws if the last drawing was a tenth of a second ago. `done` may fall when an attempt is
    /// repeated.
    mutating func update(done: Int64, total: Int64?, at now: Double) {
        progress.done = done
        progress.total = total
        guard now - lastDrawn >= Self.interval else { return }
        measure(at: now)
        draw(at: now)
    }

    /// Draws the last line, with the total time and the average rate, and keeps it on the screen.
    mutating func finish(at now: Double) {
        progress.isFinished = true
        progress.rate = now > start ? Double(progress.done) / (now - start) : nil
        draw(at: now)
        write("\n")
        isDrawn = false
    }

    /// Erases the line, before a message or after a failure. The next update draws it again.
    mutating func clear() {
        guard isDrawn else { return }
        write("\r\u{1B}[K")
        isDrawn = false
    }

    private mutating func draw(at now: Double) {
        progress.elapsed = max(0, now - start)
        lastDrawn = now
        isDrawn = true
        write("\r\(progress.line(width: width()))\u{1B}[K")
    }

    private mutating func measure(at now: Double) {
        let seconds = now - sample.time
        if progress.done < sample.done {
            progress.rate = nil
        } else if seconds > 0 {
            let current = Double(progress.done - sample.done) / seconds
            let weight = seconds / (seconds + Self.memory)
            progress.rate = progress.rate.map { $0 + (current - $0) * weight } ?? current
        }
        sample = (progress.done, now)
    }

    static func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

extension ResponseWriter {
    /// Whether progress may be shown.
    var showsProgress: Bool { !console.isSilent && !arguments.has(.noProgressMeter) && !arguments.has(.parallel) }
}

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
