import Glibc

/// A descriptor whose reads and writes are repeated until they are complete.
struct FileDescriptor: Sendable {
    let number: Int32
    let name: String

    func write(_ bytes: Span<UInt8>) throws(OutputError) {
        // Names the wait, because a reader may stall at any time.
        try Activity.during("writing to \(name)") { () throws(OutputError) in try writeAll(bytes) }
    }

    private func writeAll(_ bytes: Span<UInt8>) throws(OutputError) {
        var offset = 0
        while offset < bytes.count {
            let written = bytes.extracting(offset...).withUnsafeBytes { Glibc.write(number, $0.baseAddress, $0.count) }
            if written < 0 {
                if errno == EINTR { continue }
                if errno == EAGAIN {
                    var ready = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
                    poll(&ready, 1, -1)
                    continue
                }
                throw OutputError(name, errno)
            }
            offset += written
        }
    }

    /// Reads everything up to the end.
    ///
    /// - Parameter limit: the largest content, in bytes: a device such as /dev/zero never ends.
    func readAll(limit: Int) throws(InputError) -> [UInt8] {
        try Activity.during("reading \(name)") { () throws(InputError) in
            var bytes: [UInt8] = []
            while case let piece = try readSome(upTo: 64 << 10), !piece.isEmpty {
                guard piece.count <= limit - bytes.count else { throw InputError(name, limit: limit) }
                bytes += piece
            }
            return bytes
        }
    }

    /// Reads what is available, at most `count` bytes; empty at the end.
    func readSome(upTo count: Int) throws(InputError) -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let piece = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                let read = Glibc.read(number, buffer.baseAddress, count)
                if read < 0 { failure = errno }
                filled = max(0, read)
            }
            if failure == 0 { return piece }
            guard failure == EINTR else { throw InputError(name, failure) }
        }
    }

    static let standardOutput = FileDescriptor(number: STDOUT_FILENO, name: "standard output")
    static let standardInput = FileDescriptor(number: STDIN_FILENO, name: "standard input")
}

struct OutputError: Error, CustomStringConvertible {
    let file: String
    let errorNumber: Int32

    init(_ file: String, _ errorNumber: Int32) {
        self.file = file
        self.errorNumber = errorNumber
    }

    /// Whether the reader of our output has closed its end.
    var isBrokenPipe: Bool { errorNumber == EPIPE }
    var description: String { "can't write to \(file): \(String(cString: strerror(errorNumber)))" }
}
