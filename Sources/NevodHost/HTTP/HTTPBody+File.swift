#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension HTTPBody {
    /// A file that is read while it is sent. The body is replayable, and its length is sent in Content-Length.
    public static func file(_ path: String) throws(InvalidRequestError) -> HTTPBody {
        var info = stat()
        guard stat(path, &info) == 0 else { throw InvalidRequestError(.body, "\(path): \(String(cString: strerror(errno)))") }
        guard info.st_mode & S_IFMT == S_IFREG else { throw InvalidRequestError(.body, "\(path) is not a regular file") }
        return .stream(
            HTTPBodyStream(length: Int64(info.st_size), isReplayable: true) { try FileReader(path: path) })
    }
}

/// Reads a file sequentially.
final class FileReader: HTTPBodyReader {
    private let file: Int32
    private let path: String

    init(path: String) throws(FileReadError) {
        file = open(path, O_RDONLY | O_CLOEXEC)
        self.path = path
        guard file >= 0 else { throw FileReadError(path, errno) }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        let count = max(0, count)
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var got = 0
            repeat { got = systemRead(file, buffer.baseAddress, count) } while got < 0 && errno == EINTR
            if got < 0 { failure = errno }
            filled = max(0, got)
        }
        guard failure == 0 else { throw FileReadError(path, failure) }
        return bytes
    }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
    read(file, buffer, count)
}

struct FileReadError: Error, CustomStringConvertible {
    let description: String

    init(_ path: String, _ number: Int32) {
        description = "\(path): \(String(cString: strerror(number)))"
    }
}
