import Testing

@testable import nevod_host

@Suite struct ProgressBarTests {
    private final class Screen {
        var writes: [String] = []
    }

    private func bar(_ screen: Screen) -> ProgressBar {
        ProgressBar(name: "f", at: 100, width: { 80 }, write: { screen.writes.append($0) })
    }

    @Test("The bar is drawn at most ten times a second, and not for quick transfers")
    func interval() {
        let screen = Screen()
        var bar = bar(screen)
        for step in 1...1000 { bar.update(done: Int64(step), total: 1000, at: 100 + Double(step) / 1000) }
        #expect((8...10).contains(screen.writes.count))
        #expect(screen.writes.allSatisfy { $0.hasPrefix("\rf  ") && $0.hasSuffix("\u{1B}[K") })
        var quick = self.bar(Screen())
        quick.update(done: 1, total: 1, at: 100.05)
        quick.clear()
        #expect(screen.writes.count <= 10)
    }

    @Test("The final line shows the total time and stays")
    func finish() {
        let screen = Screen()
        var bar = bar(screen)
        bar.update(done: 1024, total: 4096, at: 101)
        bar.update(done: 4096, total: 4096, at: 101.01)
        bar.finish(at: 102)
        #expect(screen.writes.suffix(2).first?.contains("4.0 KiB  2.0 KiB/s  0:02") == true)
        #expect(screen.writes.last == "\n")
        bar.clear()
        #expect(screen.writes.last == "\n")
    }

    @Test("Finishing at once doesn't divide by zero")
    func finishAtOnce() {
        let screen = Screen()
        var bar = bar(screen)
        bar.finish(at: 100)
        #expect(screen.writes.first?.contains("--/s") == true)
    }

    @Test("Clearing erases the line, and writes nothing without a line")
    func clear() {
        let screen = Screen()
        var bar = bar(screen)
        bar.clear()
        #expect(screen.writes.isEmpty)
        bar.update(done: 1, total: nil, at: 101)
        bar.clear()
        #expect(screen.writes.last == "\r\u{1B}[K")
        bar.update(done: 2, total: nil, at: 102)
        #expect(screen.writes.count == 3)
    }

    @Test("The rate is a moving average")
    func rate() throws {
        let screen = Screen()
        var bar = bar(screen)
        for second in 1...10 { bar.update(done: Int64(second) * 1000, total: nil, at: 100 + Double(second)) }
        #expect(screen.writes.last?.contains("1000 B/s") == true)
        bar.update(done: 10_000, total: nil, at: 111)
        #expect(screen.writes.last?.contains(" 750 B/s") == true)
    }

    @Test("A repeated attempt starts again; a clock that stops or goes back does no harm")
    func again() {
        let screen = Screen()
        var bar = bar(screen)
        bar.update(done: 5000, total: 10_000, at: 101)
        bar.update(done: 0, total: 10_000, at: 102)
        #expect(screen.writes.last?.contains("--/s") == true)
        bar.update(done: 10, total: 10_000, at: 102)
        bar.update(done: 10, total: 10_000, at: 50)
        #expect(screen.writes.count == 2)
        bar.finish(at: 50)
        #expect(screen.writes.suffix(2).first?.contains("0:00") == true)
    }

    @Test("The clock is monotonic, and the width has a default without a terminal")
    func shell() {
        let before = ProgressBar.now()
        #expect(before > 0 && ProgressBar.now() >= before)
        #expect(TerminalSize.columns(of: -1) == 80)
    }
}
