/// The duration of each step of a request, and the bytes transferred.
struct Timing {
    /// The end of each step in seconds since the start, as libcurl counts. Nil for a step that did not happen: no name lookup, no
    /// TLS, or a reused connection.
    var nameLookup: Double?
    var connect: Double?
    var tls: Double?
    var firstByte: Double?
    var total: Double?
    /// Bytes of the bodies.
    var sent: Int64?
    var received: Int64?

    /// Aligned lines, each with a line break. The last column is the duration of the step itself.
    ///
    ///     name lookup     1.2 ms
    ///     connect        12.0 ms   +10.8
    ///     first byte    120.4 ms  +108.4
    ///     total         130.0 ms    +9.6
    ///     received      1.5 KiB
    var lines: String {
        let steps = [
            ("name lookup", nameLookup), ("connect", connect), ("tls", tls), ("first byte", firstByte), ("total", total),
        ].compactMap { name, seconds in seconds.flatMap { $0.isFinite && $0 >= 0 ? (name: name, seconds: $0) : nil } }
        let times = steps.map { Units.decimal($0.seconds * 1000) }
        let took = steps.indices.map { index in
            index == 0 ? "" : "+" + Units.decimal(max(0, steps[index].seconds - steps[index - 1].seconds) * 1000)
        }
        let sizes = [("sent", sent), ("received", received)].compactMap { name, count in
            count.map { (name: name, text: Units.bytes(Double($0))) }
        }
        let nameWidth = (steps.map(\.name) + sizes.map(\.name)).map(\.count).max() ?? 0
        let timeWidth = times.map(\.count).max() ?? 0
        let tookWidth = took.map(\.count).max() ?? 0
        var text = ""
        for (index, step) in steps.enumerated() {
            text += Self.left(step.name, nameWidth) + "  " + Self.right(times[index], timeWidth) + " ms"
            text += took[index].isEmpty ? "\n" : "  " + Self.right(took[index], tookWidth) + "\n"
        }
        // Sizes have other units than times, so they are aligned to the left.
        for size in sizes { text += Self.left(size.name, nameWidth) + "  " + size.text + "\n" }
        return text
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
