import CLinux
import Glibc
import NevodHost

/// A folder that appears with all of its files, or not at all.
struct ProjectFolder {
    let path: String

    /// Writes the files into a temporary folder beside the path, and renames that folder.
    func write(_ files: [(path: String, content: String)]) throws(OutputError) {
        // A signal between two files would leave the temporary folder behind.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_BLOCK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let temporary = try makeTemporary()
        var written: [String] = []
        do throws(OutputError) {
            for file in files {
                try makeFolders(of: file.path, in: temporary, &written)
                try write(file.content, to: "\(temporary)/\(file.path)", as: file.path)
                written.append(file.path)
            }
            // Refuses a folder that has appeared meanwhile, even an empty one, which rename would replace.
            guard nevod_rename_unless_present(temporary, path) == 0 else { throw OutputError(path, errno) }
        } catch {
            for file in written.reversed() { remove("\(temporary)/\(file)") }
            rmdir(temporary)
            throw error
        }
    }

    private func makeTemporary() throws(OutputError) -> String {
        var template = Array("\(path).part.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw OutputError(path, errno) }
        let temporary = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        // Sets the mode that mkdir would have set.
        let mask = umask(0o077)
        umask(mask)
        chmod(temporary, 0o777 & ~mask)
        return temporary
    }

    private func makeFolders(of file: String, in folder: String, _ written: inout [String]) throws(OutputError) {
        var parts = file.split(separator: "/").dropLast()
        var names: [String] = []
        while let part = parts.popFirst() {
            names.append(String(part))
            let name = names.joined(separator: "/")
            if mkdir("\(folder)/\(name)", 0o777) == 0 {
                written.append(name)
            } else if errno != EEXIST {
                throw OutputError("\(path)/\(name)", errno)
            }
        }
    }

    private func write(_ content: String, to file: String, as name: String) throws(OutputError) {
        let number = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard number >= 0 else { throw OutputError("\(path)/\(name)", errno) }
        do throws(OutputError) {
            try FileDescriptor(number: number, name: "\(path)/\(name)").write(Array(content.utf8).span)
        } catch {
            close(number)
            unlink(file)
            throw error
        }
        guard close(number) == 0 || errno == EINTR else {
            let failure = errno
            unlink(file)
            throw OutputError("\(path)/\(name)", failure)
        }
    }
}
