internal import Glibc

/// A new file that is written beside its target, and takes the target's place in one step once it is complete. If it is released
/// without ``commit(_:isDurable:)``, it is removed.
///
/// The file is created with `O_EXCL` and `O_NOFOLLOW`, so if somebody has put a file or a link at the temporary path, nothing is
/// written to it. It is in the target's folder, because a file can be renamed only within one file system.
///
/// A symbolic link at the target is never followed: ``commit(_:isDurable:)`` replaces the link itself. A caller that must keep
/// links resolves the path first, as the command line's `-o` does. The private stores refuse a link before they write.
///
/// Not `Sendable`: one task or thread uses it at a time.
package final class AtomicFile {
    /// How ``commit(_:isDurable:)`` treats an existing target.
    package enum Placement {
        case replacing
        /// An existing target stays, and the new file is removed.
        case unlessPresent
        /// An existing target stays, and the commit fails with EEXIST.
        case exclusively
    }

    private let target: String
    private let temporary: String
    private let folder: Int32?
    /// Nil once closed.
    private var descriptor: Int32?
    private var isTemporary = true

    /// Creates the file.
    ///
    /// - Parameters:
    ///   - target: the final path.
    ///   - temporary: the path until then, in the same folder.
    ///   - folder: an open folder that both paths are relative to, and that must outlive this object; nil for the working
    ///     directory.
    ///   - mode: the permissions, which the process's umask reduces.
    package init(
        _ target: String, as temporary: String, in folder: Int32? = nil, mode: UInt32 = 0o600
    ) throws(AtomicFileError) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let file = openat(folder ?? AT_FDCWD, temporary, flags, mode)
        guard file >= 0 else { throw AtomicFileError(.create, errno) }
        self.target = target
        self.temporary = temporary
        self.folder = folder
        descriptor = file
    }

    /// Creates the file under a random name.
    ///
    /// - Parameter prefix: the temporary path without its random end.
    package static func randomlyNamed(
        _ prefix: String, for target: String, mode: UInt32 = 0o600
    ) throws(AtomicFileError) -> AtomicFile {
        for _ in 0..<100 {
            do throws(AtomicFileError) {
                return try AtomicFile(target, as: prefix + randomSuffix(), mode: mode)
            } catch {
                guard error.code == EEXIST else { throw error }
            }
        }
        throw AtomicFileError(.create, EEXIST)
    }

    deinit {
        discard()
    }

    /// The path until the commit.
    package var temporaryPath: String { temporary }

    /// Gives the file exactly these permissions. A file system without permissions ignores them.
    package func setMode(_ mode: UInt32) {
        if let descriptor { fchmod(descriptor, mode) }
    }

    /// The file's attributes.
    func status() throws(AtomicFileError) -> stat {
        var info = stat()
        guard let descriptor else { throw AtomicFileError(.write, EBADF) }
        guard fstat(descriptor, &info) == 0 else { throw AtomicFileError(.write, errno) }
        return info
    }

    package func write(_ bytes: [UInt8]) throws(AtomicFileError) {
        try bytes.withUnsafeBufferPointer { (bytes) throws(AtomicFileError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Appends all of the bytes.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(AtomicFileError) {
        guard let descriptor else { throw AtomicFileError(.write, EBADF) }
        var count = 0
        while count < bytes.count {
            let written = Glibc.write(descriptor, bytes.baseAddress?.advanced(by: count), bytes.count - count)
            if written < 0, errno == EINTR { continue }
            guard written >= 0 else { throw AtomicFileError(.write, errno) }
            count += written
        }
    }

    /// Puts the file in its place. Called once.
    ///
    /// - Parameter isDurable: whether the content is on the device before the file has its final name, and the name before this
    ///   returns.
    package func commit(_ placement: Placement = .replacing, isDurable: Bool = false) throws(AtomicFileError) {
        guard let descriptor else { throw AtomicFileError(.write, EBADF) }
        if isDurable, fsync(descriptor) != 0 { throw AtomicFileError(.synchronise, errno) }
        // A network file system may report only now that there was no room.
        guard closeDescriptor() else { throw AtomicFileError(.write, errno) }
        try place(placement)
        if isDurable { try synchroniseFolder() }
    }

    /// Removes the file now, unless it has already replaced its target.
    package func discard() {
        closeDescriptor()
        guard isTemporary else { return }
        unlinkat(folder ?? AT_FDCWD, temporary, 0)
        isTemporary = false
    }

    private func place(_ placement: Placement) throws(AtomicFileError) {
        let folder = folder ?? AT_FDCWD
        switch placement {
        case .replacing:
            guard renameat(folder, temporary, folder, target) == 0 else { throw AtomicFileError(.place, errno) }
            isTemporary = false
        case .unlessPresent:
            guard linkat(folder, temporary, folder, target, 0) == 0 || errno == EEXIST else {
                throw AtomicFileError(.place, errno)
            }
        case .exclusively:
            guard linkat(folder, temporary, folder, target, 0) == 0 else { throw AtomicFileError(.place, errno) }
        }
    }

    private func synchroniseFolder() throws(AtomicFileError) {
        if let folder {
            guard fsync(folder) == 0 else { throw AtomicFileError(.synchroniseFolder, errno) }
            return
        }
        let opened = open(target.parentFolder ?? ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard opened >= 0 else { throw AtomicFileError(.synchroniseFolder, errno) }
        defer { close(opened) }
        guard fsync(opened) == 0 else { throw AtomicFileError(.synchroniseFolder, errno) }
    }

    /// - Returns: false if `close` failed. After `EINTR`, Linux has closed the descriptor.
    @discardableResult
    private func closeDescriptor() -> Bool {
        guard let descriptor else { return true }
        self.descriptor = nil
        return close(descriptor) == 0 || errno == EINTR
    }

    private static func randomSuffix() -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789".utf8)
        return String(decoding: (0..<6).map { _ in alphabet[Int.random(in: alphabet.indices)] }, as: UTF8.self)
    }
}

/// Why a file could not be written, or not be put in its place.
package struct AtomicFileError: Error, Sendable, Hashable {
    /// The step that failed.
    package enum Step: Sendable {
        case create
        case write
        case synchronise
        case place
        case synchroniseFolder
    }

    package let step: Step
    /// `errno`.
    package let code: Int32

    init(_ step: Step, _ code: Int32) {
        self.step = step
        self.code = code
    }
}

extension StorageError {
    /// - Parameters:
    ///   - target: the file's final path.
    ///   - temporary: its path until then.
    ///   - folder: the path of the folder that contains both.
    init(_ error: AtomicFileError, target: String, temporary: String, folder: String) {
        switch error.step {
        case .create: self.init(folder, "no file can be created in it", errno: error.code)
        case .write: self.init(temporary, "can't be written", errno: error.code)
        case .synchronise: self.init(temporary, "can't be written to its device", errno: error.code)
        case .place: self.init(target, "can't be put in place", errno: error.code)
        case .synchroniseFolder: self.init(folder, "can't be written to its device", errno: error.code)
        }
    }
}
