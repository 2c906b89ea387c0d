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

    /// As curl tells a text from the name of a file: it has an equals sign.
    private static func isText(_ value: String) -> Bool { value.utf8.contains(UInt8(ascii: "=")) }

    /// Whether cookies of responses are kept: with a file to read, even if it does not exist, or to write.
    var keepsCookies: Bool { !files.isEmpty || output != nil }

    /// Returns a jar with the cookies of the files; nil if none are kept.
    ///
    /// - Parameter request: lines of a response's head, which name no domain, are for its host.
    func keeper(for request: HTTPRequest) throws -> CookieKeeper? {
        guard keepsCookies else { return nil }
        var cookies: [Cookie] = []
        for path in files where !path.isEmpty {
            // `-b FILE -c FILE` begins without the file.
            guard path == "-" || fileExists(path) else { continue }
            let file = CookieInput(try readFile(path, limit: InputLimit.content), for: request, now: HostClock.system.now)
            if let line = file.unreadableLine {
                console.warning("line \(line) of \(path) is not a cookie, and is left out, as are others like it")
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
