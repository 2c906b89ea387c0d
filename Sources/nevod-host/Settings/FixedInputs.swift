import NevodHost
import NevodSupport

/// The inputs of `--at` and `--random`, with which `sign` gives the same bytes each time.
struct FixedInputs {
    /// Nanoseconds since 1970; nil for the system's clock.
    let unixTime: Int64?
    /// 32 bytes; nil for random ones.
    let random: [UInt8]?

    var isEmpty: Bool { unixTime == nil && random == nil }

    var clock: HostClock {
        guard let unixTime else { return .system }
        return HostClock { unixTime }
    }

    init(_ arguments: Arguments) throws(UsageError) {
        if let text = arguments.value(.at) {
            guard let time = Self.unixNanoseconds(text) else {
                throw UsageError("--at \(text) is not a time; write 2026-01-31T12:00:00Z, or seconds since 1970")
            }
            unixTime = time
        } else {
            unixTime = nil
        }
        if let text = arguments.value(.random) {
            guard let bytes = Self.bytes(text) else {
                throw UsageError("--random needs 64 hexadecimal digits, or at most 62 that end with ... and are repeated: 00...")
            }
            random = bytes
        } else {
            random = nil
        }
    }

    private static let size = 32

    private static func bytes(_ text: String) -> [UInt8]? {
        let isPattern = text.hasSuffix("...")
        let digits = Array(text.utf8.dropLast(isPattern ? 3 : 0))
        guard !digits.isEmpty, digits.count.isMultiple(of: 2), isPattern ? digits.count < 2 * size : digits.count == 2 * size
        else {
            return nil
        }
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { Hexadecimal.byte(digits[$0], digits[$0 + 1]) }
        guard bytes.count == digits.count / 2 else { return nil }
        return (0..<size).map { bytes[$0 % bytes.count] }
    }

    /// Reads seconds since 1970, or a time of ISO 8601 as RFC 3339 has it: `2026-01-31T12:00:00.5+01:00`.
    static func unixNanoseconds(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        guard bytes.contains(UInt8(ascii: "-")) || bytes.contains(UInt8(ascii: ":")) else { return decimal(bytes[...]) }
        guard bytes.count >= 20, [4, 7].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            [13, 16].allSatisfy({ bytes[$0] == UInt8(ascii: ":") }),
            [UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: " ")].contains(bytes[10]),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
            let local = CivilCalendar.unixSeconds(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var rest = bytes[19...]
        var fraction: Int64 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { number([$0]) != nil }
            guard !digits.isEmpty, let value = decimal([UInt8(ascii: "0"), UInt8(ascii: ".")] + digits) else { return nil }
            fraction = value
            rest = rest.dropFirst(digits.count + 1)
        }
        guard let offset = offset(Array(rest)) else { return nil }
        let (product, overflow) = (local - offset).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflows) = product.addingReportingOverflow(fraction)
        return overflow || overflows || sum < 0 ? nil : sum
    }

    /// Seconds ahead of UTC: `Z`, or `+01:00`.
    private static func offset(_ text: [UInt8]) -> Int64? {
        if text == [UInt8(ascii: "Z")] || text == [UInt8(ascii: "z")] { return 0 }
        guard text.count == 6, text[3] == UInt8(ascii: ":"), let hours = number(text[1..<3]), let minutes = number(text[4..<6]),
            hours < 24, minutes < 60, text[0] == UInt8(ascii: "+") || text[0] == UInt8(ascii: "-")
        else { return nil }
        return Int64(hours * 3600 + minutes * 60) * (text[0] == UInt8(ascii: "-") ? -1 : 1)
    }

    /// A number of digits, at most nine, without a sign.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        guard (1...9).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// Billionths of `1767225600` or `1767225600.123456789`; digits beyond the ninth are dropped.
    private static func decimal(_ text: ArraySlice<UInt8>) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, (1...10).contains(whole.count), whole.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let seconds = whole.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) }
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return product }
        let digits = parts[1]
        guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let nine = digits.prefix(9) + [UInt8](repeating: 0x30, count: max(0, 9 - digits.count))
        let (sum, overflows) = product.addingReportingOverflow(nine.reduce(Int64(0)) { $0 * 10 + Int64($1 - 0x30) })
        return overflows ? nil : sum
    }
}
