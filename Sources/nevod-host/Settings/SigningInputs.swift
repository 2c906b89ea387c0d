import NevodHost
import NevodPluginKit
import NevodSupport

/// The inputs of `--at` and `--random`. With them, `sign` gives the same bytes each time.
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
        guard let bytes = Hexadecimal.bytes(isPattern ? text.dropLast(3) : text[...]), !bytes.isEmpty,
            isPattern ? bytes.count < size : bytes.count == size
        else { return nil }
        return (0..<size).map { bytes[$0 % bytes.count] }
    }

    /// Reads seconds since 1970, or an RFC 3339 time: `2026-01-31T12:00:00.5+01:00`. Returns nanoseconds since 1970.
    static func unixNanoseconds(_ text: String) -> Int64? {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ":") }) else {
            return decimal(Array(text.utf8))
        }
        guard let time = TimeFormat.iso8601.unixNanoseconds(text), time >= 0 else { return nil }
        return time
    }

    /// Returns the billionths in `1767225600` or `1767225600.123456789`. Drops digits beyond the ninth.
    private static func decimal(_ text: [UInt8]) -> Int64? {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, whole.count <= 10, let seconds = Int64(digits: whole) else { return nil }
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return nil }
        guard parts.count == 2 else { return product }
        let digits = parts[1]
        let nine = digits.prefix(9) + [UInt8](repeating: UInt8(ascii: "0"), count: max(0, 9 - digits.count))
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit), let fraction = Int64(digits: nine) else { return nil }
        let (sum, overflows) = product.addingReportingOverflow(fraction)
        return overflows ? nil : sum
    }
}

/// The settings that `--explain` and `--nonce` of `sign` set for a scheme that declares them.
struct SigningSettings {
    private let values: [(name: String, value: String)]

    init(_ arguments: Arguments, of scheme: Scheme) throws(UsageError) {
        var values: [(String, String)] = []
        let declares = { (name: String, kind: SchemeSetting.Kind) in
            scheme.settings.contains { $0.name == name && $0.kind == kind }
        }
        if arguments.has(.explain) {
            guard declares("explain", .boolean) else {
                throw UsageError(
                    "the scheme \"\(scheme.id)\" explains nothing: it has no setting \"explain\"; leave out --explain")
            }
            values.append(("explain", "true"))
        }
        if let nonce = arguments.value(.nonce) {
            guard declares("nonce", .text) else {
                throw UsageError("the scheme \"\(scheme.id)\" takes no nonce: it has no setting \"nonce\"; leave out --nonce")
            }
            values.append(("nonce", nonce))
        }
        self.values = values
    }

    /// Returns the values of `--set`, with these settings replacing others of the same names.
    func replacing(_ given: [String]) -> [String] {
        given.filter { text in !values.contains { text.utf8.starts(with: "\($0.name)=".utf8) } }
            // A value of --nonce is never a source.
            + values.map { "\($0.name)=text:\($0.value)" }
    }
}
