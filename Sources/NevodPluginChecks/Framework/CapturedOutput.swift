internal import CLinux
internal import Glibc

/// Collects the output of the process, on standard output and standard error, for as long as this exists.
final class CapturedOutput {
    private let file: Int32
    private var saved: [(number: Int32, copy: Int32)] = []

    init() throws {
        file = nevod_memory_file("output")
        guard file >= 0 else { throw CheckStop.skip("there is no file in memory") }
        for number in [STDOUT_FILENO, STDERR_FILENO] {
            let copy = nevod_moved_up(dup(number))
            guard copy >= 0, dup2(file, number) == number else { throw CheckStop.skip("standard output can't be redirected") }
            saved.append((number, copy))
        }
    }

    deinit { close(file) }

    /// Puts the descriptors back, and returns what was written, at most 64 KiB of it.
    func finish() -> [UInt8] {
        for (number, copy) in saved {
            dup2(copy, number)
            close(copy)
        }
        saved = []
        return [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, filled in
            filled = max(0, pread(file, buffer.baseAddress, buffer.count, 0))
        }
    }
}
