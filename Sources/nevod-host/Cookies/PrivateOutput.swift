import Glibc
import NevodHost

/// A file that only its owner may read, and that appears under its name when it is complete.
struct PrivateOutput {
    private let target: String
    private let path: String

    /// Returns nil for a device, a pipe or a descriptor, which is written to and not replaced.
    init?(_ path: String) throws(OutputError) {
        var info = stat()
        let exists = stat(path, &info) == 0
        if exists, info.st_mode & S_IFMT != S_IFREG { return nil }
        self.path = path
        // A symbolic link stays, and the file that it points to is replaced.
        target = exists ? canonicalPath(path) ?? path : path
        guard !exists || access(path, W_OK) == 0 else { throw OutputError(path, errno) }
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        do throws(AtomicFileError) {
            let file = try AtomicFile.randomlyNamed(BodyOutput.temporaryPrefix(for: target), for: target, mode: 0o600)
            do throws(AtomicFileError) {
                try file.write(bytes)
                try file.commit()
            } catch {
                file.discard()
                throw error
            }
        } catch {
            throw OutputError(path, error.code)
        }
    }
}
