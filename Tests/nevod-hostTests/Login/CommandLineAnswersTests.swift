import NevodSupport
import Testing

@testable import nevod_host

@Suite struct CommandLineAnswersTests {
    private func given(_ words: String...) throws -> CommandLineAnswers {
        let arguments = try Arguments(words.flatMap { [Array("--answer".utf8), Array($0.utf8)] })
        return try CommandLineAnswers(arguments, console: Console(isSilent: true, verbosity: .none))
    }

    private func text(_ source: CommandLineAnswers.Source?) -> String? {
        switch source {
        case .text(let text): "text \(text)"
        case .value(let secret): "value \(secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })"
        case .source(let source): "source \(source)"
        case nil: nil
        }
    }

    @Test(
        "A source is a text, a file or standard input",
        arguments: [
            ("a=b", "text b"), ("a=", "text "), ("a=b=c", "text b=c"), ("a=text:env:B", "text env:B"),
            ("a=file:/b", "source file:/b"),
            ("a=-", "source -"), ("a=--", "text --"), ("a=\u{301}b", "text \u{301}b"),
        ])
    func sources(word: String, expected: String) throws {
        #expect(text(try given(word).take("a")) == expected)
    }

    @Test("Environment variables are read at once")
    func fromEnvironment() throws {
        #expect(text(try given("a=env:PATH").take("a"))?.hasPrefix("value /") == true)
        let error = #expect(throws: SettingSourceError.self) { try given("a=env:NEVOD_NOT_SET") }
        #expect(error?.description.contains("NEVOD_NOT_SET") == true)
    }

    @Test("An answer without a name or a source is refused", arguments: ["", "a", "=b"])
    func refused(word: String) {
        let error = #expect(throws: UsageError.self) { try given(word) }
        #expect(error?.description.contains("NAME=") == true, "\(String(describing: error))")
    }

    @Test("An answer is offered until it is used; the question counts as asked")
    func offered() throws {
        let given = try given("a=1", "b=2")
        #expect(given.offers("a") && given.offers("a") && !given.offers("c"))
        _ = given.take("a")
        #expect(!given.offers("a"))
        #expect(given.unusedWarnings(.all) == ["no question asked for --answer b; the questions were a, c"])
    }

    @Test("Each answer serves one question, in order")
    func once() throws {
        let given = try given("a=1", "b=2", "a=3")
        #expect(
            [given.take("a"), given.take("a"), given.take("a"), given.take("c")].map(text) == ["text 1", "text 3", nil, nil])
        #expect(given.isGiven("a") && !given.isGiven("c"))
        #expect(given.unusedWarnings(.all) == ["no question asked for --answer b; the questions were a, c"])
        _ = given.take("b")
        #expect(given.unusedWarnings(.all).isEmpty)
    }
}
