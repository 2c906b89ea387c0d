import Testing

@testable import nevod_host

@Suite struct LoginLineTests {
    @Test("What was typed is repeated, for a shell, and only what a login takes")
    func text() throws {
        let words = [
            "--plugin", "a b.so", "-L", "--set", "x=it's", "--answer", "code=123", "-v", "-E", "c.pem", "--retry", "3",
            "http://host/",
        ]
        let arguments = try Arguments(words.map { Array($0.utf8) })
        #expect(LoginLine.text(arguments) == #"nevod-host login --plugin 'a b.so' --set 'x=it'\''s' --cert c.pem"#)
    }

    @Test("What comes with a profile is not")
    func profile() throws {
        let arguments = try Arguments(["--profile", "work", "/orders"].map { Array($0.utf8) })
        var profile = Profile(name: "work")
        profile.flags = [(.plugin, "x.so"), (.set, "a=b")]
        #expect(LoginLine.text(arguments.merging(profile)) == "nevod-host login --profile work")
    }
}
