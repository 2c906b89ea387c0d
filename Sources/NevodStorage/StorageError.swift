internal import Glibc

/// Why a store could not be read or written. Names the file or the key, and the remedy; never holds a value.
public struct StorageError: Error, Sendable, Equatable {
    /// The kind of failure, for a program to act on.
    public enum Code: Sendable {
        /// The system denies access, or other users could read or change the store.
        case permissions
        /// The store can't be reached: a folder is missing, a device fails, a keychain is locked.
        case unavailable
        /// There is no space for the value. The old one is kept.
        case full
        /// The content was not written by this store.
        case damaged
        /// The value is longer than the store allows.
        case tooLarge
        /// Another process has held a lock for too long.
        case busy
        /// Any other failure, which ``StorageError/problem`` describes.
        case other
    }

    /// The kind of failure; ``problem`` describes it to a person.
    public let code: Code
    /// A path, or the name of a key.
    public let subject: String
    /// The problem, worded to follow the subject.
    public let problem: String
    /// The remedy, for a person.
    public let remedy: String?
    /// `errno`, or the underlying library's error code (an `OSStatus`).
    public let systemCode: Int32?

    /// For custom stores.
    public init(_ code: Code, _ subject: String, problem: String, remedy: String? = nil, systemCode: Int32? = nil) {
        self.code = code
        self.subject = subject
        self.problem = problem
        self.remedy = remedy
        self.systemCode = systemCode
    }
}

extension StorageError: CustomStringConvertible {
    public var description: String {
        "\(subject): \(problem)" + (remedy.map { "; \($0)" } ?? "")
    }
}

extension StorageError {
    /// How to recover from damage. A program that still has the damaged files open would write into the restored ones.
    package static let restoring = "stop the programs that use it, and restore it from a backup"
}

extension StorageError {
    /// Checks the size of a value in bytes.
    ///
    /// - Throws: `tooLarge` for more than the store's limit.
    package static func checkSize(_ count: Int, upTo limit: Int, of subject: String) throws(StorageError) {
        guard count > limit else { return }
        throw StorageError(
            .tooLarge, subject, problem: "the value has \(count) bytes, more than \(limit)",
            remedy: "store it elsewhere, and keep a reference here")
    }
}

extension StorageError {
    /// - Parameter action: The failed action, such as "can't be opened".
    init(_ path: String, _ action: String, errno number: Int32) {
        let (code, remedy): (Code, String?) =
            switch number {
            case ENOSPC: (.full, "free some space on its device")
            case EDQUOT: (.full, "free some of the user's disk quota")
            case EFBIG: (.full, "raise the process's limit on the size of files (ulimit -f)")
            case EACCES, EPERM: (.permissions, "let this user read and write it")
            case EROFS: (.permissions, "choose a folder on a writable file system")
            case ENOENT, ENOTDIR, EIO, ESTALE, ENXIO, ENODEV: (.unavailable, nil)
            default: (.other, nil)
            }
        self.init(
            code, path, problem: "\(action): \(String(cString: strerror(number)))", remedy: remedy, systemCode: number)
    }
}
