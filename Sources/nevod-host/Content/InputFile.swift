import Glibc
import NevodSupport

/// Reads a file whole; `-` is standard input.
func readFile(_ path: String, limit: Int) throws(InputError) -> [UInt8] {
    if path == "-", limit == InputLimit.content { return try StandardInputContent.read() }
    guard path != "-" else { return try FileDescriptor.standardInput.readAll(limit: limit) }
    // Opening a named pipe waits until another program opens it for writing.
    let file = Activity.during("opening \(path)") { open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) }
    guard file >= 0 else { throw InputError(path, errno) }
    defer { close(file) }
    return try FileDescriptor(number: file, name: path).readAll(limit: limit)
}

/// The largest inputs that are read into memory, in bytes.
enum InputLimit {
    /// The content of a request.
    static let content = 128 << 20
    /// Header lines. No server takes this many.
    static let headers = 1 << 20
    /// Secrets, answers and other settings.
    static let setting = 1 << 20
}

struct InputError: Error, CustomStringConvertible {
    let description: String

    init(_ file: String, _ errorNumber: Int32) {
        description = "can't read \(file): \(String(cString: strerror(errorNumber)))"
    }

    init(_ file: String, limit: Int) {
        let size = limit >= 1 << 20 ? "\(limit >> 20) MiB" : "\(limit >> 10) KiB"
        let remedy = limit == InputLimit.content ? "; -T FILE and -F NAME=@FILE send a file of any size" : ""
        description = "can't read \(file): it is larger than \(size)\(remedy)"
    }
}

/// Whether there is a file, of any kind, or a link to one.
func fileExists(_ path: String) -> Bool {
    access(path, F_OK) == 0
}

/// Returns the warning about a file that other users can read.
///
/// - Parameter holdsSecret: false if the file may hold a secret, but need not.
func warning(aboutReadersOf path: String, holdsSecret: Bool = true) -> String {
    "\(path) \(holdsSecret ? "holds a secret, and other users can read it" : "can be read by others"); chmod 600 it"
}
