import Testing

@testable import nevod_host

@Suite struct ColumnsTests {
    @Test(
        arguments: [
            ([["#", "NAME"], ["1", "work"], ["10", "é"]], "#   NAME\n1   work\n10  é"),
            ([["a ", "b"], ["ccc", ""]], "a    b\nccc"),
            ([["a"], ["b", "c"], []], "a\nb  c\n"), ([], ""),
        ] as [([[String]], String)])
    func `Columns are aligned, rows may differ in length, and no line ends with a space`(rows: [[String]], text: String) {
        #expect(Columns.text(rows) == text)
    }

    @Test(arguments: [-1, 0, 2, 3])
    func `A text that is too wide for its column stays the same`(width: Int) {
        #expect("abc".padded(to: width) == "abc")
        #expect("abc".rightAligned(in: width) == "abc")
    }

    @Test func `A text is padded on either side`() {
        #expect("é".padded(to: 3) == "é  ")
        #expect("10".rightAligned(in: 3) == " 10")
    }
}
