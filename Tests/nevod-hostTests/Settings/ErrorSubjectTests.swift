import NevodHost
import Testing

@testable import nevod_host

@Suite struct ErrorSubjectTests {
    @Test("The flag or the setting of an error is found by its kind, or by the word that its message begins with")
    func subjects() {
        #expect(ErrorSubject(of: UsageError("--max-time x is not a number of seconds")) == .flag(.maxTime))
        #expect(ErrorSubject(of: UsageError("-u contains a password")) == .flag(.user))
        #expect(ErrorSubject(of: UsageError("there is no --max-time")) == nil)
        #expect(ErrorSubject(of: UsageError("--help me")) == nil)
        let error = PluginError("p.so", .unknownSetting(scheme: "s", name: "a", valid: []))
        #expect(ErrorSubject(of: error) == .part(.set, "a"))
        #expect(ErrorSubject(of: SubjectError(subject: .flag(.user), underlying: error)) == .flag(.user))
        #expect(ErrorSubject(of: NetworkError.interceptor("X", NetworkError.plugin(error))) == .part(.set, "a"))
    }

    @Test("A wrapped error keeps its text, its exit code and its first subject")
    func wrapped() throws {
        let error = #expect(throws: SubjectError.self) {
            try SubjectError.adding(.flag(.user)) {
                try SubjectError.adding(.part(.set, "a")) { throw SettingSourceError("the setting \"a\" is empty") }
            }
        }
        #expect(error?.subject == .part(.set, "a") && error?.description == "the setting \"a\" is empty")
        #expect(error.map { ExitCode.of($0) } == ExitCode.settings)
    }
}
