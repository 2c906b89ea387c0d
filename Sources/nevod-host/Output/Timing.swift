import NevodHost

/// The duration of each step of a request, and the bytes transferred.
struct Timing {
    /// The end of each step in seconds since the start, as libcurl counts. Nil for a step that did not happen, for example no
    /// name lookup, no TLS, or a reused connection.
    var nameLookup: Double?
    var connect: Double?
    var tls: Double?
    var firstByte: Double?
    var total: Double?
    /// Bytes of the bodies.
    var sent: Int64?
    var received: Int64?

    /// Aligned lines, each with a line break. The last column is the step's own duration.
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
            text += step.name.padded(to: nameWidth) + "  " + times[index].rightAligned(in: timeWidth) + " ms"
            text += took[index].isEmpty ? "\n" : "  " + took[index].rightAligned(in: tookWidth) + "\n"
        }
        // Sizes and times have different units, so sizes are aligned to the left.
        for size in sizes { text += size.name.padded(to: nameWidth) + "  " + size.text + "\n" }
        return text
    }
}

/// Formats numbers for people, without Foundation.
enum Units {
    /// `999 B`, `1.5 KiB`, `12.0 MiB`.
    static func bytes(_ count: Double) -> String {
        guard count.isFinite, count > 0 else { return "0 B" }
        guard count.rounded() >= 1024 else { return "\(Int(count.rounded())) B" }
        let names = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var value = count / 1024
        var unit = 0
        // Avoids 1024.0 KiB for 1023.96 KiB.
        while value >= 1023.95, unit < names.count - 1 {
            value /= 1024
            unit += 1
        }
        return "\(decimal(value)) \(names[unit])"
    }

    /// `2 s`, `0.3 s`.
    static func seconds(_ time: Duration) -> String {
        let milliseconds = time / .milliseconds(1)
        return milliseconds.truncatingRemainder(dividingBy: 1000) == 0 && milliseconds < 1e12
            ? "\(Int(milliseconds / 1000)) s" : "\(decimal(milliseconds / 1000)) s"
    }

    /// Returns one digit after the decimal point.
    static func decimal(_ value: Double) -> String {
        // A value that doesn't fit an Int is not a valid time or size.
        guard value.isFinite, abs(value) < 1e15 else { return "?" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// `0:05`, `12:34`, `1:02:03`; `-:--` if unknown.
    static func clock(_ seconds: Double?) -> String {
        guard let seconds, seconds.isFinite, seconds >= 0, seconds < 100 * 3600 else { return "-:--" }
        let whole = Int(seconds.rounded())
        let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
        return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(twoDigits(rest))" : "\(minutes):\(twoDigits(rest))"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

extension Timing {
    /// Maps zero, libcurl's value for steps that did not happen, to nil.
    init(_ metrics: TransferMetrics) {
        let happened = { (seconds: Double) in seconds > 0 ? seconds : nil }
        self.init(
            nameLookup: happened(metrics.nameLookup), connect: happened(metrics.connect), tls: happened(metrics.tls),
            firstByte: happened(metrics.firstByte), total: metrics.total, sent: Int64(metrics.uploaded),
            received: Int64(metrics.downloaded))
    }
}
