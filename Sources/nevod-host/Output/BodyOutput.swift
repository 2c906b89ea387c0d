import Glibc

/// Where the answer's body goes: standard output, or a file that appears under its name only when it is complete.
struct BodyOutput: ~Copyable {
    private let file: FileDescriptor
    private var temporaryPath: String?
    private let finalPath: String?

    init(_ path: String?) throws(OutputError) {
        guard let path, path != "-" else {
            file = .standardOutput
            finalPath = nil
            return
        }
        var info = stat()
        let exists = stat(path, &info) == 0
        if exists, info.st_mode & S_IFMT != S_IFREG {
            // A device or a pipe, /dev/null for one, is written, not replaced.
            let number = open(path, O_WRONLY | O_CLOEXEC)
            guard number >= 0 else { throw OutputError(path, errno) }
            file = FileDescriptor(number: number, name: path)
            finalPath = nil
            return
        }
        var template = Array("\(path).part.XXXXXX".utf8CString)
        let number = mkstemp(&template)
        guard number >= 0 else { throw OutputError(path, errno) }
        // mkstemp gives 0600; a download gets what any new file gets, or what the old one had.
        let mask = umask(0)
        umask(mask)
        fchmod(number, exists ? info.st_mode & 0o777 : 0o666 & ~mask)
        file = FileDescriptor(number: number, name: path)
        temporaryPath = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        finalPath = path
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        try file.write(bytes.span)
    }

    /// Puts the file under its name.
    mutating func finish() throws(OutputError) {
        guard let temporaryPath, let finalPath else { return }
        guard close(file.number) == 0, rename(temporaryPath, finalPath) == 0 else { throw OutputError(finalPath, errno) }
        self.temporaryPath = nil
    }

    deinit {
        guard let temporaryPath else { return }
        close(file.number)
        unlink(temporaryPath)
    }
}
