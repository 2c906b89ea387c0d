import NevodSupport
import NevodTestSupport
import Testing

@testable import nevod_host

@Suite struct ProgressTests {
    private func progress(
        _ done: Int64, of total: Int64?, name: String = "orders.json", rate: Double? = nil, elapsed: Double = 5
    ) -> Progress {
        Progress(name: name, done: done, total: total, rate: rate, elapsed: elapsed)
    }

    @Test("A line shows name, percentage, bar, bytes, rate and remaining time")
    func whole() {
        let line = progress(12 << 20, of: 30 << 20, rate: 1.2 * 1024 * 1024).line(width: 80)
        #expect(line == "orders.json   40% [########            ] 12.0 MiB / 30.0 MiB  1.2 MiB/s  0:15")
    }

    @Test("Without a total, a line shows the bytes and the elapsed time")
    func unknownTotal() {
        #expect(progress(2048, of: nil, rate: 512).line(width: 80) == "orders.json  2.0 KiB  512 B/s  0:05")
        #expect(progress(0, of: nil).line(width: 80) == "orders.json  0 B  --/s  0:05")
    }

    @Test("100% is shown only when everything is transferred")
    func percentage() {
        #expect(progress(999_999_999, of: 1_000_000_000).line(width: 80).contains(" 99%"))
        #expect(progress(5, of: 5).line(width: 80).contains("100%"))
        #expect(progress(6, of: 5).line(width: 80).contains("100%"))
        #expect(progress(0, of: 0).line(width: 80).contains("100%"))
        #expect(progress(-1, of: 5).line(width: 80).contains("  0%"))
        #expect(progress(.max, of: .max).line(width: 80).contains("100%"))
        #expect(!progress(1, of: -1).line(width: 80).contains("%"))
    }

    @Test("Without a usable rate the remaining time is unknown")
    func rates() {
        for rate in [nil, 0, -1, 1e-9] as [Double?] {
            #expect(progress(1, of: 1 << 40, rate: rate).line(width: 80).hasSuffix("-:--"))
        }
        #expect(progress(1, of: 2, rate: .infinity).line(width: 80).contains("0 B/s"))
        #expect(progress(1, of: 2, rate: .nan).line(width: 80).hasSuffix("-:--"))
    }

    @Test(
        "A line is always narrower than the terminal",
        arguments: ["a", "orders.json", "日本語のとても長い名前のファイル.json", "\u{1B}[2J\r\n"])
    func width(name: String) {
        let states = [
            progress(1 << 50, of: 1 << 60, name: name, rate: 1e9), progress(0, of: nil, name: name),
            progress(7, of: 7, name: name, rate: 3),
        ]
        for (width, state) in pairs(-1...300, states) {
            let line = state.line(width: width)
            let columns = line.unicodeScalars.reduce(0) { $0 + ($1.value < 0x300 ? 1 : 2) }
            #expect(columns <= max(0, width - 1))
            #expect(!line.unicodeScalars.contains { $0.isUnsafeAtTerminal })
        }
    }

    @Test("A long name is shortened at its beginning")
    func longName() {
        let name = String(repeating: "x", count: 100) + ".json"
        let line = progress(1, of: 2, name: name, rate: 1).line(width: 60)
        #expect(line.hasPrefix("...x") && line.contains("x.json   50%") && line.count == 59)
    }
}

@Suite struct UnitsTests {
    @Test(
        arguments: [
            (0, "0 B"), (-5, "0 B"), (.nan, "0 B"), (.infinity, "0 B"), (1, "1 B"), (1023, "1023 B"), (1023.6, "1.0 KiB"),
            (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1023.94 * 1024, "1023.9 KiB"), (1023.96 * 1024, "1.0 MiB"),
            (0x1p63, "8.0 EiB"),
        ] as [(Double, String)])
    func bytes(count: Double, text: String) {
        #expect(Units.bytes(count) == text)
    }

    @Test(
        arguments: [
            (nil, "-:--"), (-1, "-:--"), (.nan, "-:--"), (.infinity, "-:--"), (0, "0:00"), (59.4, "0:59"), (59.6, "1:00"),
            (3599, "59:59"), (3600, "1:00:00"), (86399, "23:59:59"), (1e9, "-:--"),
        ] as [(Double?, String)])
    func clock(seconds: Double?, text: String) {
        #expect(Units.clock(seconds) == text)
    }

    @Test(arguments: [(0, "0.0"), (0.04, "0.0"), (0.05, "0.1"), (9.95, "10.0"), (-1.25, "-1.3"), (1e300, "?")])
    func decimal(value: Double, text: String) {
        #expect(Units.decimal(value) == text)
    }
}
