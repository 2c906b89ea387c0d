import NevodSupport
import Testing

@testable import nevod_host

@Suite struct TerminalInteractionTests {
    @Test(
        "A choice is found by its name, or else by its number from 1",
        arguments: [
            ("sms", "sms"), ("1", "sms"), ("2", "3"), ("3", "3"), ("4", nil), ("0", nil), ("-1", nil), ("", nil), ("SMS", nil),
            ("99999999999999999999", nil),
        ])
    func choice(answer: String, expected: String?) {
        #expect(TerminalInteraction.choice(Secret(answer), of: ["sms", "3", "app"]) == expected)
    }
}
