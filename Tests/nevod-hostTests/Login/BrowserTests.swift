import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct BrowserTests {
    @Test(
        "The commands of $BROWSER take precedence over the desktop's",
        arguments: [
            (nil, false, []), (nil, true, ["xdg-open"]), ("", true, ["xdg-open"]), (": :", true, ["xdg-open"]),
            ("firefox", true, ["firefox"]), ("w3m -X:firefox --new-tab %s", false, ["w3m -X", "firefox --new-tab %s"]),
        ])
    func commands(named names: String?, hasDisplay: Bool, expected: [String]) {
        let commands = Browser.commands(named: names, hasDisplay: hasDisplay)
        #expect(commands.map { $0.words.joined(separator: " ") } == expected)
    }

    @Test(
        "The address is always one word",
        arguments: [
            (["firefox"], ["firefox", "http://a/?b c;%s"]), (["open", "--url=%s"], ["open", "--url=http://a/?b c;%s"]),
            (["x", "%s", "%s%s"], ["x", "http://a/?b c;%s", "http://a/?b c;%shttp://a/?b c;%s"]),
        ])
    func filling(words: [String], expected: [String]) {
        #expect(Browser.Command(words: words).filling("http://a/?b c;%s") == expected)
    }
}
