internal import Glibc

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
