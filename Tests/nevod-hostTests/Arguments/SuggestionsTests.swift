import Testing

@testable import nevod_host

@Suite struct SuggestionsTests {
    @Test(
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "abc", 3), ("header", "header", 0), ("haeder", "header", 1), ("heder", "header", 1),
            ("headder", "header", 1), ("hexder", "header", 1), ("kitten", "sitting", 3), ("ca", "abc", 3),
        ])
    func distance(first: String, second: String, distance: Int) {
        #expect(Suggestions.distance(Array(first.utf8), Array(second.utf8)) == distance)
        #expect(Suggestions.distance(Array(second.utf8), Array(first.utf8)) == distance)
    }

    @Test(
        "Typos, abbreviations and other spellings are recognised",
        arguments: [
            ("haeder", "header"), ("headers", "header"), ("Header", "header"), ("max_time", "max-time"), ("maxtime", "max-time"),
            ("outptu", "output"), ("verb", "verbose"), ("cacrt", "cacert"), ("upload", "upload-file"), ("locaton", "location"),
        ])
    func flag(word: String, flag: String) {
        #expect(Suggestions.hint(forFlag: word, of: .request) == "; did you mean --\(flag)?")
    }

    @Test(
        "Words unlike any flag get no suggestion",
        arguments: ["", "x", "q", "zzzz", "frobnicate", String(repeating: "header", count: 999)])
    func nothing(word: String) {
        #expect(Suggestions.hint(forFlag: word, of: .request) == "")
    }

    @Test("Only flags of the command are suggested")
    func command() {
        #expect(Suggestions.hint(forFlag: "haeder", of: .inspect) == "")
        #expect(Suggestions.hint(forFlag: "jsno", of: .inspect) == "; did you mean --json?")
    }

    @Test("At most three equally near words are suggested, in order")
    func several() {
        #expect(Suggestions.hint(for: "key", among: ["keg", "kex", "other"]) == "; did you mean keg or kex?")
        #expect(Suggestions.hint(for: "keyz", among: ["keya", "keyb", "keyc", "keyd"]) == "; did you mean keya, keyb or keyc?")
        #expect(Suggestions.nearest(to: "api_key", among: ["secret", "api-key", "api-keys"]) == ["api-key"])
        #expect(Suggestions.nearest(to: "x", among: []).isEmpty)
    }
}
