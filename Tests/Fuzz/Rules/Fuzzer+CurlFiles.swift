import NevodHost
import NevodSupport

@testable import nevod_host

/// curl's formats and files.
extension Fuzzer {
    /// The format of `--write-out`.
    static let writeOut = Fuzzer("write-out") { input in
        let pieces = WriteOutFormat(input.array).pieces
        var previousIsText = false
        var size = 0
        for piece in pieces {
            var isText = false
            switch piece {
            case .text(let bytes):
                expect(!bytes.isEmpty, "a text isn't empty")
                isText = true
                size += bytes.count
            case .header(let name), .unknown(let name), .file(let name, _):
                expect(!name.contains(UInt8(ascii: "}")), "a name ends at its brace")
                size += name.count
            default: break
            }
            expect(!isText || !previousIsText, "texts that touch are one")
            previousIsText = isText
        }
        expect(size <= input.bytes.count, "no text is longer than its format")
        let literal = pieces.count == 1 ? pieces.first : nil
        if case .text(let bytes)? = literal, !input.array.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "\\") })
        {
            expect(bytes == input.array, "a format without variables is printed as it is")
        }
    }

    /// A `~/.netrc`.
    static let netrc = Fuzzer("netrc") { input in
        let file = NetrcFile(input.array)
        for host in ["a", "a.test", "", "localhost"] {
            let any = file.userAndPassword(host: host)
            expect(
                (any?.withUnsafeBytes { $0.contains(UInt8(ascii: ":")) }) ?? true, "a colon separates name and password")
            let named = file.userAndPassword(host: host, login: Array("ada".utf8))
            expect((named?.withUnsafeBytes { $0.starts(with: "ada:".utf8) }) ?? true, "an entry has the name that is wanted")
        }
    }

    /// A file of `-b`.
    static let cookieInput = Fuzzer("cookie-input") { input in
        guard let request = try? HTTPRequest(.get, "https://app.example.com/a/b") else { return }
        let read = CookieInput(input.array, for: request, now: UnixTime(seconds: 1_800_000_000))
        let lines = input.array.count { $0 == UInt8(ascii: "\n") } + 1
        expect(read.cookies.count <= lines, "a line has one cookie at most")
        expect(read.unreadableLine.map { (1...lines).contains($0) } ?? true, "a line that can't be read is one of the file's")
    }

    /// WWW-Authenticate, and `--digest`'s response to it.
    static let digest = Fuzzer("digest") { input in
        guard let challenge = DigestChallenge(input.lines) else { return }
        let line = challenge.authorization(
            Secret("ada:open sesame"), method: "GET", target: "/a", count: 1, clientNonce: "0123")
        guard let line else { return }
        expect(!line.contains("open sesame"), "the password is not sent")
        let again = DigestChallenge([line])
        expect(again?.nonce == challenge.nonce && again?.realm == challenge.realm, "the server reads its own nonce and realm")
    }

    /// WWW-Authenticate, and how a refusal shows it.
    static let refusal = Fuzzer("refusal") { input in
        var headers = HTTPHeaders()
        for line in input.lines { headers.add("WWW-Authenticate", line, by: .host) }
        let challenges = AuthChallenge.all(of: headers)
        expect(challenges.count <= 8, "a server can't fill a message")
        for challenge in challenges {
            expect(!challenge.scheme.isEmpty && !challenge.title.isEmpty, "a challenge has a scheme")
            _ = challenge.error
        }
    }
}
