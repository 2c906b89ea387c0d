import Testing

@testable import nevod_host

struct WriteOutFormatTests {
    private func pieces(_ format: String) -> [WriteOutFormat.Piece] { WriteOutFormat(Array(format.utf8)).pieces }
    private func text(_ text: String) -> WriteOutFormat.Piece { .text(Array(text.utf8)) }

    @Test func `Variables in any case, header lines and places`() throws {
        let code = try #require(WriteOutVariable(named: "http_code"))
        let time = try #require(WriteOutVariable(named: "time_total_us"))
        #expect(pieces("a%{HTTP_Code}b%{time_total_us}") == [text("a"), .variable(code), text("b"), .variable(time)])
        #expect(time.isInMicroseconds && !code.isInMicroseconds)
        #expect(pieces("%header{X-A}%{header{X-B}}") == [.header(Array("X-A".utf8)), .header(Array("X-B".utf8))])
        #expect(
            pieces("%output{a}%output{>>b}%{stderr}%{stdout}%{onerror}%{json}%{header_json}") == [
                .file(Array("a".utf8), appends: false), .file(Array("b".utf8), appends: true), .standardError, .standardOutput,
                .onError, .json, .headerJSON,
            ])
    }

    @Test(arguments: [
        ("", []), ("abc", ["abc"]), ("%", ["%"]), ("%%", ["%"]), ("100%!", ["100%!"]), ("%{open", ["%{open"]),
        ("%header{open", ["%header{open"]), ("%output{", ["%output{"]), ("\\n\\r\\t\\q\\", ["\n\r\t\\q\\"]),
        ("%{header{a", ["%{header{a"]),
    ])
    func `What isn't part of the syntax is a text`(format: String, texts: [String]) {
        #expect(pieces(format) == texts.map(text))
    }

    @Test func `An unknown name is kept`() {
        #expect(pieces("%{nope}%{size_download_us}") == [.unknown(Array("nope".utf8)), .unknown(Array("size_download_us".utf8))])
    }

    /// Each opening brace would search the rest for a closing one.
    @Test func `A long format takes no longer than its length`() {
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(pieces(String(repeating: "%{", count: 50_000)).count == 1)
            #expect(pieces(String(repeating: "%{header{", count: 20_000)).count == 1)
            #expect(pieces(String(repeating: "a", count: 100_000)).count == 1)
        }
        #expect(time < .seconds(30))
    }
}
