internal import CPluginCalls
internal import NevodPluginABI
internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Receives the log lines of a plugin's instance.
///
/// - Parameters:
///   - level: 1 debug, 2 info, 3 warning, 4 error.
///   - message: one line. Control characters other than tabs are escaped (`\u{a}`).
public typealias PluginLog = @Sendable (_ level: Int32, _ message: String) -> Void

/// The place in a scheme's code that a line of its log comes from.
package enum PluginLogOrigin {
    /// Whether this thread is within `authorize`. Meant for a ``PluginLog``, which is called on the thread that writes the line.
    package static var isAuthorize: Bool { nevod_call_current().map { strcmp($0.pointee.function, "authorize") == 0 } ?? false }
}

/// The values of an instance's secret settings, which its plugin might write to the log by mistake.
struct SettingSecrets: Sendable {
    private let secrets: [Secret]

    /// A shorter value would occur in ordinary words, and isn't much of a secret.
    private static let shortest = 4

    init(_ values: [(name: String, value: SchemeSettings.Value)], of settings: [SchemeSetting]) {
        let names = Set(settings.filter(\.isSecret).map(\.name))
        secrets =
            values.compactMap { entry -> Secret? in
                switch entry.value {
                case .secret(let secret): secret
                case .text(let text): names.contains(entry.name) ? Secret(text) : nil
                }
            }
            .filter { $0.count >= Self.shortest }
    }

    /// Returns a line of the plugin as text without the secrets, cut to the limit of the contract.
    func redacted(_ line: nevod_bytes) -> String {
        guard let longest = secrets.map(\.count).max() else { return line.logLine }
        // Looks past the limit, so that a secret that begins before it is seen as a whole.
        let (limit, overflows) = longest.addingReportingOverflow(Int(NEVOD_LIMIT_MESSAGE))
        let seen = line.buffer.prefix(overflows ? .max : limit)
        return redacted(Array(seen), isCut: seen.count < line.buffer.count).withUnsafeBufferPointer { nevod_bytes($0).logLine }
    }

    func redacted(_ text: String) -> String {
        secrets.isEmpty ? text : String(decoding: redacted(Array(text.utf8), isCut: false), as: UTF8.self)
    }

    /// Replaces each run of bytes that belong to secrets, which may overlap.
    ///
    /// - Parameter isCut: whether the line's last bytes may be the first ones of a secret.
    private func redacted(_ line: [UInt8], isCut: Bool) -> [UInt8] {
        var isSecret = [Bool](repeating: false, count: line.count)
        for secret in secrets {
            secret.withUnsafeBytes { secret in
                // The end of the bytes that are marked already, so that each is marked once.
                var marked = 0
                for start in line.indices where line[start] == secret.first {
                    let end = min(line.count, start + secret.count)
                    guard end - start == secret.count || isCut, line[start..<end].elementsEqual(secret.prefix(end - start)) else {
                        continue
                    }
                    for index in max(start, marked)..<end { isSecret[index] = true }
                    marked = end
                }
            }
        }
        var result: [UInt8] = []
        for (index, byte) in line.enumerated() {
            if !isSecret[index] {
                result.append(byte)
            } else if index == 0 || !isSecret[index - 1] {
                result += "[redacted]".utf8
            }
        }
        return result
    }
}
