import Glibc
import NevodHost

/// The destination of the response's body: standard output, or a file that appears under its name only when it is complete.
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
        if exists, info.st_mode & S_IFMT != S_IFREG || path.hasPrefix("/dev/") || path.hasPrefix("/proc/") {
            // Devices, pipes and names of our own descriptors are written to, not replaced.
            let number = open(path, O_WRONLY | O_CLOEXEC)
            guard number >= 0 else { throw OutputError(path, errno) }
            file = FileDescriptor(number: number, name: path)
            finalPath = nil
            return
        }
        // A link stays, and its target is replaced.
        let final = exists ? canonicalPath(path) ?? path : path
        let (number, temporary) = try Self.createTemporary(for: final, named: path)
        // mkstemp creates the file with 0600; a download gets the mode of any new file, or that of the file it replaces.
        let mask = umask(0)
        umask(mask)
        fchmod(number, exists ? info.st_mode & 0o777 : 0o666 & ~mask)
        file = FileDescriptor(number: number, name: path)
        temporaryPath = temporary
        finalPath = final
    }

    private static func createTemporary(for final: String, named path: String) throws(OutputError) -> (Int32, String) {
        var template = Array("\(final).part.XXXXXX".utf8CString)
        var failure: Int32 = 0
        // Created and registered for removal in one step, so that a signal in between leaves no file.
        let number = Interruption.shared.begin { () -> (Int32, Interruption.Undo?) in
            let number = mkstemp(&template)
            failure = errno
            guard number >= 0 else { return (number, nil) }
            let created = template
            return (number, { _ = unlink(created) })
        }
        guard number >= 0 else { throw OutputError(path, failure) }
        return (number, template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? "")
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        try file.write(bytes.span)
    }

    /// Renames the temporary file to its final name.
    mutating func finish() throws(OutputError) {
        guard let temporaryPath, let finalPath else { return }
        guard close(file.number) == 0, rename(temporaryPath, finalPath) == 0 else { throw OutputError(finalPath, errno) }
        self.temporaryPath = nil
        Interruption.shared.end()
    }

    deinit {
        guard let temporaryPath else { return }
        close(file.number)
        unlink(temporaryPath)
        Interruption.shared.end()
    }
}
