import NevodSupport

/// The progress of a download or an upload, and its line of text.
struct Progress {
    /// The name shown, usually the file's.
    var name: String
    var done: Int64
    /// Nil if the length is unknown.
    var total: Int64?
    /// The recent rate in bytes per second; nil before the first measurement.
    var rate: Double?
    /// Seconds since the start.
    var elapsed: Double
    var isFinished = false

    /// Returns one line that is narrower than the terminal, because a terminal wraps when its last column is written.
    ///
    ///     orders.json   42% [########            ]  12.6 MiB / 30.0 MiB   1.2 MiB/s   0:15
    func line(width: Int) -> String {
        let columns = max(0, width - 1)
        let name = TerminalText.safe(name)
        var facts = [bytesText, rate.map { "\(Units.bytes($0))/s" } ?? "--/s", timeText]
        if let percentage { facts.insert("\(percentage < 10 ? "  " : percentage < 100 ? " " : "")\(percentage)%", at: 0) }
        // If there is no room, the name is shortened first, then name, time and rate are dropped.
        let plain = facts.joined(separator: "  ")
        let room = columns - plain.count - 2
        guard room >= 8 || room >= Self.columns(of: name) else {
            for count in stride(from: facts.count, through: 1, by: -1) {
                let shorter = facts.prefix(count).joined(separator: "  ")
                if shorter.count <= columns { return shorter }
            }
            return String(plain.prefix(columns))
        }
        let shown = Self.shortened(name, to: room)
        let bar = bar(width: min(40, room - Self.columns(of: shown) - 2))
        guard let bar, percentage != nil else { return "\(shown)  \(plain)" }
        return "\(shown)  \(facts[0]) \(bar) \(facts.dropFirst().joined(separator: "  "))"
    }

    /// Less than 100 until everything is transferred.
    private var percentage: Int? {
        guard let total, total >= 0 else { return nil }
        guard done < total else { return 100 }
        return Int(max(0, Double(done)) / Double(total) * 100)
    }

    private var bytesText: String {
        let text = Units.bytes(Double(done))
        guard let total, total > done else { return text }
        return "\(text) / \(Units.bytes(Double(total)))"
    }

    /// The remaining time; the elapsed time if finished or if the length is unknown.
    private var timeText: String {
        guard !isFinished, let total else { return Units.clock(elapsed) }
        guard let rate, rate > 0 else { return Units.clock(nil) }
        return Units.clock(max(0, Double(total) - Double(done)) / rate)
    }

    private func bar(width: Int) -> String? {
        guard let percentage, width >= 12 else { return nil }
        let inner = width - 2
        let filled = inner * percentage / 100
        return "[" + String(repeating: "#", count: filled) + String(repeating: " ", count: inner - filled) + "]"
    }

    /// Shortens a name at its beginning: names of files differ at their ends.
    private static func shortened(_ name: String, to columns: Int) -> String {
        guard Self.columns(of: name) > columns else { return name }
        guard columns > 3 else { return String(repeating: ".", count: max(0, columns)) }
        var rest = name[...]
        while Self.columns(of: rest) > columns - 3 { rest.removeFirst() }
        return "..." + rest
    }

    /// Returns an upper bound of the columns: every possibly wide character counts as two.
    private static func columns(of text: some StringProtocol) -> Int {
        text.unicodeScalars.reduce(0) { $0 + ($1.value < 0x300 ? 1 : 2) }
    }
}
