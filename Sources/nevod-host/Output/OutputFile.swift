import Glibc
import NevodHost
import NevodSupport

/// The file that a body is written to: its path, from `-o`, `-O`, `-J` and `--output-dir`, and the effect on an existing file.
struct OutputFile {
    /// Nil for standard output.
    let path: String?
    let placement: OutputDestination.Placement

    /// - Parameter response: names the file for `-J`.
    init(_ arguments: Arguments, _ response: HTTPResponse) throws {
        try self.init(arguments, givenName: arguments.has(.remoteHeaderName) ? ContentDisposition.fileName(of: response) : nil)
    }

    /// The file as far as it is known before the response.
    init(_ arguments: Arguments) throws {
        try self.init(arguments, givenName: nil)
    }

    private init(_ arguments: Arguments, givenName: String?) throws {
        guard let name = try Self.name(arguments, givenName) else {
            path = nil
            placement = .replacing
            return
        }
        let path = Self.path(arguments, name)
        if arguments.has(.createDirectories) { try Self.createFolders(of: path) }
        if arguments.has(.continueAt) {
            (self.path, placement) = (path, .appending)
        } else if arguments.has(.noClobber) {
            (self.path, placement) = (try Self.unused(path), .exclusive)
        } else {
            (self.path, placement) = (path, givenName == nil ? .replacing : .exclusive)
        }
    }

    private static func path(_ arguments: Arguments, _ name: String) -> String {
        let folder = name.hasPrefix("/") ? nil : arguments.value(.outputDirectory)
        // A lone "-" would mean standard output, which only -o may name.
        return folder.map { "\($0)/\(name)" } ?? (name == "-" ? "./-" : name)
    }

    /// Returns the path by the flags alone; nil for standard output, and for an unusable name.
    static func expectedPath(_ arguments: Arguments) -> String? {
        (try? name(arguments, nil)).flatMap { $0 }.map { path(arguments, $0) }
    }

    /// Whether the body is written to a file.
    static func isNamed(by arguments: Arguments) -> Bool {
        arguments.has(.remoteName) || arguments.value(.output).map { $0 != "-" } ?? false
    }

    /// Refuses an unusable name, before anything is sent.
    static func checkName(_ arguments: Arguments) throws {
        _ = try name(arguments, nil)
    }

    private static func name(_ arguments: Arguments, _ givenName: String?) throws -> String? {
        if arguments.has(.remoteName) {
            if let givenName { return givenName }
            return try name(inURL: arguments.operands.first ?? "")
        }
        guard let file = arguments.value(.output), file != "-" else { return nil }
        if let mark = file.utf8.firstIndex(of: UInt8(ascii: "#")), let next = file.utf8[mark...].dropFirst().first,
            next.isDigit, next != UInt8(ascii: "0")
        {
            throw UsageError(
                "-o \(file): #\(Unicode.Scalar(next)) would be a part of a URL pattern, and patterns aren't supported; "
                    + "give each URL an -o of its own")
        }
        return file
    }

    /// Returns the last name of a URL's path, as typed.
    static func name(inURL url: String) throws(OutputNameError) -> String {
        var rest = Array(url.utf8)[...]
        if let mark = rest.firstIndex(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) { rest = rest[..<mark] }
        if let mark = rest.indices.first(where: { rest[$0...].starts(with: "://".utf8) }) { rest = rest[(mark + 3)...] }
        guard let slash = rest.lastIndex(of: UInt8(ascii: "/")) else { throw OutputNameError(url) }
        let name = String(decoding: rest[slash...].dropFirst(), as: UTF8.self)
        guard !["", ".", ".."].contains(name), !name.utf8.contains(where: \.isControl) else {
            throw OutputNameError(url)
        }
        return name
    }

    /// Returns the path, or the first of PATH.1 … PATH.100 that is free.
    private static func unused(_ path: String) throws(OutputError) -> String {
        var info = stat()
        for number in 0...100 {
            let candidate = number == 0 ? path : "\(path).\(number)"
            if lstat(candidate, &info) != 0 { return candidate }
        }
        throw OutputError(path, EEXIST)
    }

    /// Creates the folders of a path, with curl's permissions.
    private static func createFolders(of path: String) throws(OutputError) {
        for (index, byte) in path.utf8.enumerated() where byte == UInt8(ascii: "/") && index > 0 {
            let folder = String(decoding: path.utf8.prefix(index), as: UTF8.self)
            guard mkdir(folder, 0o750) == 0 || errno == EEXIST else { throw OutputError(folder, errno) }
        }
    }

    /// With `-R`, gives the file the date of `Last-Modified` (RFC 9110 §8.8.2).
    func setDate(_ arguments: Arguments, _ response: HTTPResponse) {
        guard arguments.has(.remoteTime), let path, OwnDescriptor.number(of: path) == nil,
            let date = response.headers["Last-Modified"].flatMap(HTTPDate.parse)
        else { return }
        let time = timespec(tv_sec: time_t(date.seconds), tv_nsec: 0)
        // If the file system can't hold the date, the file keeps its own.
        _ = [time, time].withUnsafeBufferPointer { utimensat(AT_FDCWD, path, $0.baseAddress, 0) }
    }
}

/// Reports a URL without a file name.
struct OutputNameError: Error, CustomStringConvertible {
    let url: String

    init(_ url: String) { self.url = url }

    var description: String { "-O finds no file name in \(url); write -o FILE" }
}
