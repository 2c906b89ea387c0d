/// The value of a variable of `--write-out`.
enum WriteOutValue: Sendable, Equatable {
    /// Nil if there is none.
    case text(String?)
    case number(Int)
    /// A status: three digits, `000` if there is none.
    case status(Int)
    case seconds(Double)

    func text(inMicroseconds: Bool = false) -> String {
        switch self {
        case .text(let text): text ?? ""
        case .number(let number): "\(number)"
        case .status(let status): String(repeating: "0", count: max(0, 3 - "\(status)".count)) + "\(status)"
        case .seconds(let seconds): inMicroseconds ? "\(Self.microseconds(seconds))" : Self.sixDigits(seconds)
        }
    }

    var json: String {
        switch self {
        case .text(nil): "null"
        case .text(let text?): JSON.string(text).text
        case .number(let number), .status(let number): "\(number)"
        case .seconds(let seconds): Self.sixDigits(seconds)
        }
    }

    private static func microseconds(_ seconds: Double) -> Int {
        guard seconds.isFinite, seconds > 0, seconds < 1e12 else { return 0 }
        return Int((seconds * 1e6).rounded())
    }

    /// `0.012345`
    private static func sixDigits(_ seconds: Double) -> String {
        let all = microseconds(seconds)
        let fraction = "\(all % 1_000_000)"
        return "\(all / 1_000_000)." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
