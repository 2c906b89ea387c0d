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
