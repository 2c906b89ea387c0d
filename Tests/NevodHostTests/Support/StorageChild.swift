internal import Glibc
internal import Testing

/// storage-child, as the build left it beside the test binary.
enum StorageChild {
    private static func program() throws -> String {
        var path = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &path, path.count)
        let folder = path.prefix(max(0, count)).map(UInt8.init(bitPattern:)).split(separator: UInt8(ascii: "/")).dropLast()
        let program = "/" + folder.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") + "/storage-child"
        try #require(access(program, X_OK) == 0, "swift build makes \(program)")
        return program
    }

    static func spawn(_ arguments: [String], environment: [String] = []) throws -> (pid: pid_t, pipe: Int32) {
        try Command.spawn([program()] + arguments, environment: environment)
    }

    /// Runs it to its end; the last line it says.
    static func answer(_ arguments: [String], environment: [String] = []) throws -> String {
        let (pid, pipe) = try spawn(arguments, environment: environment)
        defer { close(pipe) }
        let lines = LineReader(pipe).rest()
        let status = Command.wait(for: pid)
        return lines.last ?? "storage-child ended with \(status)"
    }

    /// What storage-child saves as a number.
    static func value(_ number: Int) -> [UInt8] {
        let copies = 1 + number % 9 * 1500
        return Array("\(number) \(copies)".utf8) + Array(String(repeating: " \(number)", count: copies).utf8)
    }
}

/// Lines from a pipe, as they come.
final class LineReader {
    private let pipe: Int32
    private var buffer: [UInt8] = []

    init(_ pipe: Int32) { self.pipe = pipe }

    /// Nil at the end. A line without an end is none.
    func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                defer { buffer.removeSubrange(...end) }
                return String(decoding: buffer[..<end], as: UTF8.self)
            }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(pipe, &piece, piece.count)
            guard count > 0 else { return nil }
            buffer += piece[..<count]
        }
    }

    func rest() -> [String] {
        var lines: [String] = []
        while let line = next() { lines.append(line) }
        return lines
    }
}
