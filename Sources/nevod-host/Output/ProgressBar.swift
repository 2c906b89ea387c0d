import CLinux
import Glibc

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
    /// The seconds over which the rate is averaged: fewer would flicker, more would lag behind.
    private static let memory = 3.0

    /// - Parameters:
    ///   - now: the start. Nothing is drawn in the first tenth of a second, so that quick transfers don't flash.
    ///   - width: called before each drawing, because windows change size.
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

    /// Updates the numbers, and draws if the last drawing is a tenth of a second ago. `done` may fall when an attempt is repeated.
    mutating func update(done: Int64, total: Int64?, at now: Double) {
        progress.done = done
        progress.total = total
        guard now - lastDrawn >= Self.interval else { return }
        measure(at: now)
        draw(at: now)
    }

    /// Draws the last line, with the total time and the average rate, and leaves it.
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
