import Glibc
import Testing

/// Runs programs that check the generated files. (Without Foundation, like all of this target.)
enum Shell {
    /// Runs a command with `sh`, and returns its output, its errors and its exit code.
    static func run(_ command: String) throws -> (output: String, code: Int32) {
        let pipe = try #require(popen("{ \(command)\n} 2>&1", "re"))
        var output: [UInt8] = []
        while case let byte = fgetc(pipe), byte != EOF { output.append(UInt8(truncatingIfNeeded: byte)) }
        let status = pclose(pipe)
        return (String(decoding: output, as: UTF8.self), status >> 8 & 0xFF)
    }

    /// Whether a program is installed. If not, prints why the test is skipped.
    static func has(_ program: String) -> Bool {
        if system("command -v \(program) >/dev/null 2>&1") == 0 { return true }
        print("skipped: \(program) is not installed (apt-get install \(program))")
        return false
    }
}
