internal import Glibc

extension PrivateFile {
    /// Writes a file of mode 0600 in one step. It is on the device when this returns.
    ///
    /// - Parameters:
    ///   - name: the file's name in the folder.
    ///   - temporary: its name until it is complete.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to name: String, as temporary: String, in folder: borrowing PrivateFile
    ) throws(StorageError) {
        let path = folder.path
        try write(
            bytes, target: "\(path)/\(name)", temporary: "\(path)/\(temporary)", folder: path, placement: .replacing
        ) { () throws(AtomicFileError) in try AtomicFile(name, as: temporary, in: folder.descriptor) }
    }

    /// Writes a file of mode 0600 in one step, unless there is one. It is on the device when this returns.
    ///
    /// - Parameter temporary: its path until it is complete.
    static func write(
        _ bytes: UnsafeRawBufferPointer, unlessPresent path: String, as temporary: String
    ) throws(StorageError) {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        try write(bytes, target: path, temporary: temporary, folder: folder, placement: .unlessPresent) {
            () throws(AtomicFileError) in try AtomicFile(path, as: temporary)
        }
    }

    private static func write(
        _ bytes: UnsafeRawBufferPointer, target: String, temporary: String, folder: String, placement: AtomicFile.Placement,
        create: () throws(AtomicFileError) -> AtomicFile
    ) throws(StorageError) {
        let (file, info): (AtomicFile, stat)
        do throws(AtomicFileError) {
            file = try create()
            info = try file.status()
        } catch {
            throw StorageError(error, target: target, temporary: temporary, folder: folder)
        }
        // A file system without permissions may give the file other ones than requested.
        try check(info, .file, temporary)
        do throws(AtomicFileError) {
            try file.write(bytes)
            try file.commit(placement, isDurable: true)
        } catch {
            throw StorageError(error, target: target, temporary: temporary, folder: folder)
        }
    }
}
