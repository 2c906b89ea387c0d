import Glibc
import NevodHost

/// `-b`, `-c` and `-j`: the cookies as text, the files to read, and the file to write.
struct CookieOptions: Sendable {
    private let files: [String]
    private let output: String?
    private let dropsSessionCookies: Bool
    private let console: Console

    init(arguments: Arguments, console: Console) {
        files = arguments.values(.cookie).filter { !Self.isText($0) }
        output = arguments.value(.cookieJar)
        dropsSessionCookies = arguments.has(.junkSessionCookies)
        self.console = console
    }

    /// The value of the Cookie line: the texts of `-b`. They go to the first origin only.
    static func text(of arguments: Arguments) -> String? {
        let texts = arguments.values(.cookie).filter(isText)
        return texts.isEmpty ? nil : texts.joined(separator: "; ")
    }

    /// As in curl, a text has an equals sign, and the name of a file doesn't.
    private static func isText(_ value: String) -> Bool { value.utf8.contains(UInt8(ascii: "=")) }

    /// Whether cookies from responses are kept. They are if there is a file to write or to read; the latter need not exist.
    var keepsCookies: Bool { !files.isEmpty || output != nil }

    /// Returns a jar with the cookies of the files; nil if cookies aren't kept.
    ///
    /// - Parameter request: its host is the domain of `Set-Cookie` lines that name none.
    func keeper(for request: HTTPRequest) throws -> CookieKeeper? {
        guard keepsCookies else { return nil }
        var cookies: [Cookie] = []
        for path in files where !path.isEmpty {
            // At the first `-b FILE -c FILE`, the file doesn't exist yet.
            guard path == "-" || fileExists(path) else { continue }
            let file = CookieInput(try readFile(path, limit: InputLimit.content), for: request, now: HostClock.system.now)
            if let line = file.unreadableLine {
                console.warning("line \(line) of \(path) is not a cookie; it is ignored, as are others like it")
            }
            cookies += file.cookies
        }
        return CookieKeeper(dropsSessionCookies ? cookies.filter { $0.expires != nil } : cookies)
    }

    /// Writes the file of `-c`. Its mode is 0600: a cookie is a credential.
    func save(_ keeper: CookieKeeper) throws {
        guard let output else { return }
        let bytes = CookieFile.encode(keeper.cookies)
        guard output != "-", let file = try PrivateOutput(output) else {
            var stream = try BodyOutput(output)
            try stream.write(bytes)
            return try stream.finish()
        }
        try file.write(bytes)
    }
}

/// A file of cookies: Netscape's format, or the head of a response with its `Set-Cookie` lines. Both are read line by line, as in
/// curl.
struct CookieInput {
    let cookies: [Cookie]
    /// The number of the first line that should be a cookie but isn't a valid one; nil without such a line.
    let unreadableLine: Int?

    /// - Parameters:
    ///   - request: supplies the domain and the path for a `Set-Cookie` line that doesn't name them. (curl sends such a cookie to
    ///     every host.)
    ///   - now: the time from which the lifetimes in `Set-Cookie` lines count.
    init(_ bytes: [UInt8], for request: HTTPRequest, now: UnixTime) {
        var read: [Cookie] = []
        var unreadable: Int?
        var netscape: [UInt8] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            let text = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            if let value = Self.setCookieValue(text) {
                if let cookie = Cookie(setCookie: value, from: request, now: now) {
                    read.append(cookie)
                } else {
                    unreadable = unreadable ?? index + 1
                }
            } else if text.contains(UInt8(ascii: "\t")) {
                if (try? CookieFile.decode(text)) != nil {
                    netscape += text + [UInt8(ascii: "\n")]
                } else {
                    unreadable = unreadable ?? index + 1
                }
            } else if !Self.isHeadOrComment(text) {
                unreadable = unreadable ?? index + 1
            }
        }
        // Decodes them together, to keep the order of the lines.
        cookies = ((try? CookieFile.decode(netscape)) ?? []) + read
        unreadableLine = unreadable
    }

    private static func setCookieValue(_ line: ArraySlice<UInt8>) -> String? {
        let name = "set-cookie:"
        guard String(decoding: line.prefix(name.utf8.count), as: UTF8.self).lowercased() == name,
            let text = String(validating: line.dropFirst(name.utf8.count), as: UTF8.self)
        else { return nil }
        return String(text.drop { $0 == " " })
    }

    /// Whether a line is empty, a comment, or another line of a response's head.
    private static func isHeadOrComment(_ line: ArraySlice<UInt8>) -> Bool {
        line.isEmpty || line.first == UInt8(ascii: "#") || line.starts(with: "HTTP/".utf8) || line.contains(UInt8(ascii: ":"))
    }
}

/// A file that only its owner may read. It appears under its name when it is complete.
struct PrivateOutput {
    private let target: String
    private let path: String

    /// Returns nil for a device, a pipe or a descriptor, which must be written to instead of replaced.
    init?(_ path: String) throws(OutputError) {
        var info = stat()
        let exists = stat(path, &info) == 0
        if exists, info.st_mode & S_IFMT != S_IFREG { return nil }
        self.path = path
        // A symbolic link stays, and the file that it points to is replaced.
        target = exists ? canonicalPath(path) ?? path : path
        guard !exists || access(path, W_OK) == 0 else { throw OutputError(path, errno) }
    }

    func write(_ bytes: [UInt8]) throws(OutputError) {
        do throws(AtomicFileError) {
            let file = try AtomicFile.randomlyNamed(OutputDestination.temporaryPrefix(for: target), for: target, mode: 0o600)
            do throws(AtomicFileError) {
                try file.write(bytes)
                try file.commit()
            } catch {
                file.discard()
                throw error
            }
        } catch {
            throw OutputError(path, error.code)
        }
    }
}
