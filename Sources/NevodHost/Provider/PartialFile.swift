#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A file written under a temporary name and moved to its path by ``commit()``. Without a commit, `deinit` removes it.
final class PartialFile: Sendable {
    private let path: String
    private let temporaryPath: String
    private let descriptor: Int32

    /// Creates the temporary file in the folder of `path`, since a file can be moved only within one file system.
    init(_ path: String) throws(FileError) {
        var info = stat()
        // Checked early: commit() would fail only after the whole file was fetched.
        if stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFDIR { throw FileError(path, EISDIR) }
        let name = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[path.utf8.index(after: $0)...] } ?? path[...]
        var template = Array("\(path.dropLast(name.count)).nevod-XXXXXX".utf8CString)
        let descriptor = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkstemp($0) } ?? -1 }
        guard descriptor >= 0 else { throw FileError(path, errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        self.path = path
        self.descriptor = descriptor
        temporaryPath = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        close(descriptor)
        // Does nothing after a commit.
        unlink(temporaryPath)
    }

    func write(_ bytes: [UInt8]) throws(FileError) {
        var failure: Int32 = 0
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno != EINTR {
                    failure = errno
                    return
                }
            }
        }
        guard failure == 0 else { throw FileError(path, failure) }
    }

    func commit() throws(FileError) {
        guard rename(temporaryPath, path) == 0 else { throw FileError(path, errno) }
    }
}

/// The system's `write`, which the method of the same name hides inside the class.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}
