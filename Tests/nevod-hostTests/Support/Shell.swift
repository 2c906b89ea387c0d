import Glibc
import Testing

@testable import nevod_host

/// Runs programs that check generated texts. (Without Foundation, like the command line.)
enum Shell {
    /// Runs a command with `sh`, and returns both outputs and the exit code.
    static func run(_ command: String) throws -> (output: String, code: Int32) {
        let pipe = try #require(popen("{ \(command)\n} 2>&1", "re"))
        var output: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { output.append(UInt8(truncatingIfNeeded: byte)) }
        let status = pclose(pipe)
        return (String(decoding: output, as: UTF8.self), status >> 8 & 0xFF)
    }

    /// Whether a program is installed; prints why the test is skipped if not.
    static func has(_ program: String) -> Bool {
        if system("command -v \(program) >/dev/null 2>&1") == 0 { return true }
        print("skipped: \(program) is not installed (apt-get install \(program))")
        return false
    }
}

/// A folder that is removed with its owner.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/nevod-tests.XXXXXX".utf8CString)
        _ = try #require(mkdtemp(&template))
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } } ?? ""
    }

    deinit { system("rm -rf '\(path)'") }

    /// Creates a file and returns its path.
    @discardableResult
    func add(_ name: String, _ text: String = "", mode: mode_t = 0o600) throws -> String {
        let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        try FileDescriptor(number: file, name: name).write(Array(text.utf8).span)
        fchmod(file, mode)
        return "\(path)/\(name)"
    }
}
