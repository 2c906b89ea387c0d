package import Glibc

/// storage-child: a process of its own that uses a store, and that a test may kill.
package enum StorageChild {
    package static func spawn(_ arguments: [String], environment: [String] = []) throws -> (pid: pid_t, pipe: Int32) {
        try Command.spawn([helperProgram("storage-child")] + arguments, environment: environment)
    }

    /// Runs it to its end and returns the last line that it printed.
    package static func lastLine(_ arguments: [String], environment: [String] = []) throws -> String {
        let (pid, pipe) = try spawn(arguments, environment: environment)
        defer { close(pipe) }
        let lines = LineReader(pipe).rest()
        let status = Command.wait(for: pid)
        return lines.last ?? "storage-child ended with \(status)"
    }

    /// The bytes that storage-child saves for a number.
    package static func value(_ number: Int) -> [UInt8] {
        let copies = 1 + number % 9 * 1500
        return Array("\(number) \(copies)".utf8) + Array(String(repeating: " \(number)", count: copies).utf8)
    }
}
