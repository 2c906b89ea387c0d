import Testing

@testable import nevod_host

@Suite struct ColorChoiceTests {
    @Test(
        "The variables. An empty one counts as not set",
        arguments: [
            ([:], ColorChoice.auto), (["NO_COLOR": "1"], .never), (["NO_COLOR": ""], .auto), (["CLICOLOR_FORCE": "1"], .always),
            (["CLICOLOR_FORCE": "0"], .auto), (["CLICOLOR_FORCE": ""], .auto), (["CLICOLOR": "0"], .never),
            (["CLICOLOR": "1"], .auto),
            (["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], .never), (["CLICOLOR": "0", "CLICOLOR_FORCE": "1"], .always),
        ] as [([String: String], ColorChoice)])
    func variables(given: [String: String], choice: ColorChoice) {
        #expect(ColorChoice { given[$0] } == choice)
    }
}
