internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes lines to standard error: `2026-01-01T00:00:00.123Z warning GET … returned 503 in 12.3 ms attempt=1`.
///
/// Each line is one write, so that lines of several threads and processes don't interleave (on a pipe, up to 4,096 bytes:
/// pipe(7)). Lines that can't be written are dropped.
public struct StandardErrorLogger: NetworkLogger {
    private let minimum: LogLevel
    private let clock: HostClock

    /// - Parameters:
    ///   - minimum: the lowest level that is written.
    ///   - clock: the source of the lines' timestamps.
    public init(minimum: LogLevel = .info, clock: HostClock = .system) {
        self.minimum = minimum
        self.clock = clock
    }

    public func isEnabled(_ level: LogLevel) -> Bool {
        level >= minimum
    }

    public func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        var line = "\(clock.now.rfc3339) \(level) \(LogLine.text(message, metadata))\n"
        line.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = writeToStandardError(rest)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }
}

private func writeToStandardError(_ bytes: UnsafeRawBufferPointer) -> Int {
    write(STDERR_FILENO, bytes.baseAddress, bytes.count)
}

extension UnixTime {
    /// In UTC, to the millisecond (RFC 3339 §5.6).
    var rfc3339: String {
        let date = CivilDate(unixNanoseconds: nanoseconds)
        let day = [date.year.padded(to: 4), date.month.padded(to: 2), date.day.padded(to: 2)].joined(separator: "-")
        return "\(day)T\(date.clock).\((date.nanosecond / 1_000_000).padded(to: 3))Z"
    }
}
