import Glibc
import NevodHost

/// Where a response's body is written: standard output, a pipe or a device, or a file that appears under its name only once it
/// is complete.
struct BodyOutput: ~Copyable {
    private enum Destination {
        case stream(FileDescriptor)
        case file(AtomicFile, path: String)
    }

    private let destination: Destination

    init(_ path: String?) throws(OutputError) {
        guard let path, path != "-" else {
            destination = .stream(.standardOutput)
            return
        }
        var info = stat()
        let exists = stat(path, &info) == 0
        if exists, info.st_mode & S_IFMT != S_IFREG || path.hasPrefix("/dev/") || path.hasPrefix("/proc/") {
            // Devices, pipes and names of our own descriptors are written to, not replaced.
            let number = open(path, O_WRONLY | O_CLOEXEC)
            guard number >= 0 else { throw OutputError(path, errno) }
            destination = .stream(FileDescriptor(number: number, name: path))
            return
        }
        // A symbolic link stays, and the file that it points to is replaced.
        let target = exists ? canonicalPath(path) ?? path : path
        // A download gets the permissions of any new file, or those of the file that it replaces.
        let file = try Self.createFile(target, mode: exists ? 0o600 : 0o666, named: path)
        if exists { file.setMode(info.st_mode & 0o777) }
        destination = .file(file, path: path)
    }

    private static func createFile(_ target: String, mode: UInt32, named path: String) throws(OutputError) -> AtomicFile {
        // Created and registered in one step, so that a signal between the two leaves nothing behind.
        let result = Interruption.shared.begin { () -> (Result<AtomicFile, AtomicFileError>, Interruption.Undo?) in
            do throws(AtomicFileError) {
                let file = try AtomicFile.randomlyNamed("\(target).part.", for: target, mode: mode)
                let temporaryPath = file.temporaryPath
                return (.success(file), { _ = unlink(temporaryPath) })
            } catch {
                return (.failure(error), nil)
            }
        }
        do throws(AtomicFileError) { return try result.get() } catch { throw OutputError(path, error.code) }
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        switch destination {
        case .stream(let file): try file.write(bytes.span)
        case .file(let file, let path):
            do throws(AtomicFileError) { try file.write(bytes) } catch { throw OutputError(path, error.code) }
        }
    }

    /// Puts the file under its name.
    func finish() throws(OutputError) {
        guard case .file(let file, let path) = destination else { return }
        do throws(AtomicFileError) { try file.commit() } catch { throw OutputError(path, error.code) }
    }

    deinit {
        guard case .file(let file, _) = destination else { return }
        file.discard()
        Interruption.shared.end()
    }
}
