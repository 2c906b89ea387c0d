import Testing

@testable import nevod_host

@Suite struct LoginCommandLineTests {
    @Test("Typed flags are repeated if they locate the login, quoted for a shell")
    func text() throws {
        let words = [
            "--plugin", "a b.so", "-L", "--set", "x=it's", "--answer", "code=123", "-v", "-E", "c.pem", "--retry", "3",
            "http://host/",
        ]
        let arguments = try Arguments(words.map { Array($0.utf8) })
        #expect(LoginCommandLine.text(arguments) == #"nevod-host login --plugin 'a b.so' --set 'x=it'\''s' --cert c.pem"#)
    }

    @Test("A profile's flags are not repeated")
    func profile() throws {
        let arguments = try Arguments(["--profile", "work", "/orders"].map { Array($0.utf8) })
        var profile = Profile(name: "work")
        profile.flags = [ProfileFlag(.plugin, "x.so", line: 2), ProfileFlag(.set, "a=b", line: 3)]
        #expect(LoginCommandLine.text(arguments.merging(profile, folder: "/c")) == "nevod-host login --profile work")
    }

    @Test("A profile that was not typed is named, and so is what takes its flags back")
    func chosenProfile() throws {
        let arguments = try Arguments(["--no-account", "--no-fail", "/orders"].map { Array($0.utf8) })
        let text = LoginCommandLine.text(arguments.merging(Profile(name: "my work"), folder: "/c"))
        #expect(text == "nevod-host login --profile 'my work' --no-account")
    }
}
