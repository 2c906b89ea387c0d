import Testing

@testable import nevod_host

@Suite struct FlagTests {
    @Test("Each flag has one entry in the table")
    func entries() {
        for name in Flag.Name.allCases { #expect(Flag.all.count { $0.name == name } == 1, "\(name)") }
    }

    @Test("A flag of this program is not among those that only curl has")
    func ofCurlAlone() {
        let ofCurl = CurlFlag.hints.flatMap(\.flags)
        #expect(Flag.all.map(\.long).filter(ofCurl.contains) == [])
        #expect(ofCurl.count == Set(ofCurl).count)
    }

    @Test("What puts a credential on requests is bound to a profile's origins")
    func credentials() {
        // Some of these may be flags of a later version. --netrc isn't a credential flag, because its file names the host of each
        // entry.
        for long in ["plugin", "set", "answer", "user", "header", "cert", "bearer", "oauth2-bearer", "cookie"] {
            for flag in Flag.all where flag.long == long { #expect(flag.isCredential, "--\(long)") }
        }
    }

    @Test("Within a command each spelling means one flag", arguments: Command.allCases)
    func spellings(command: Command) {
        let spellings = Flag.flags(of: command).flatMap(\.spellings)
        #expect(Set(spellings).count == spellings.count)
    }

    @Test(
        "The forms in which values name standard input",
        arguments: [
            ("-d", "@-", true), ("-d", "-", false), ("--data-urlencode", "name@-", true), ("-F", "name=<-", true),
            ("-H", "@-", true), ("--set", "name=-", true), ("--set", "-", false), ("--answer", "name=-", true), ("-u", "-", true),
            ("-T", "-", true), ("-T", "a=-", false), ("-o", "-", false),
        ])
    func standardInput(flag: String, value: String, isNamed: Bool) throws {
        let arguments = try Arguments(["-T", "-", flag, value].map { Array($0.utf8) })
        if isNamed {
            #expect(throws: UsageError.self) { try arguments.checkStandardInput() }
        } else {
            try arguments.checkStandardInput()
        }
    }
}
