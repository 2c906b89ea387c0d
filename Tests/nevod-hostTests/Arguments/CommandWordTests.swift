import Testing

@testable import nevod_host

@Suite struct CommandWordTests {
    @Test(
        "A command behind flags is moved to the front",
        arguments: [
            ("-v login", "login -v"), ("--profile work sessions show 1", "sessions --profile work show 1"),
            ("--profile=work sessions", "sessions --profile=work"), ("-so file login", "login -so file"),
            ("-sofile login", "login -sofile"), ("login -v", "login -v"), ("-v http://h login", "-v http://h login"),
            ("-o login http://h", "-o login http://h"), ("-- login", "-- login"), ("-v - login", "-v - login"),
            ("--unknown login", "--unknown login"), ("-Q login", "-Q login"), ("--json sessions", "--json sessions"),
            ("-v request", "-v request"), ("", ""), ("-", "-"), ("-o", "-o"),
        ])
    func moved(typed: String, expected: String) {
        let words = typed.split(separator: " ").map { Array($0.utf8) }
        #expect(CommandWord.first(words).map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ") == expected)
    }

    @Test("A word that is not UTF-8 ends the search")
    func bytes() {
        let words: [[UInt8]] = [[0x2D, 0x76], [0xFF], Array("login".utf8)]
        #expect(CommandWord.first(words) == words)
    }

    @Test("A mistyped command is refused", arguments: ["lgoin", "sesions", "Login", "sotre", "insepct"])
    func mistyped(word: String) {
        #expect(throws: UsageError.self) { try Arguments([Array(word.utf8)]) }
    }

    @Test(
        "Hosts, paths and methods are not",
        arguments: [
            "localhost", "lgoin.example", "lgoin/", "lgoin:80", "http://lgoin", "/lgoin", "POST", "HEAD", "zebra", "h\u{e9}lp",
            "lgoin1",
        ])
    func accepted(word: String) throws {
        #expect(try Arguments([Array(word.utf8)]).operands.count == 1)
    }

    @Test("With a profile, a word is a relative URL")
    func relative() throws {
        #expect(try Arguments(["--profile", "work", "stores"].map { Array($0.utf8) }).operands == ["stores"])
    }
}
