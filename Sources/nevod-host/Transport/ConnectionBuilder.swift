import NevodHost
import NevodSupport

/// Builds the connection settings from the flags.
struct ConnectionBuilder {
    let arguments: Arguments

    func settings() throws(UsageError) -> ConnectionSettings {
        var settings = ConnectionSettings()
        // Few commands have any of these flags.
        guard arguments.flags.contains(where: { Self.flags.contains($0.name) }) else { return settings }
        for text in arguments.values(.resolve) { settings.addresses.append(try Self.address(text)) }
        for text in arguments.values(.connectTo) { settings.connectTo.append(try Self.connection(text)) }
        settings.unixSocket = unixSocket
        settings.ipVersion = last(of: [.ipv4, .ipv6]).map { $0 == .ipv4 ? .v4 : .v6 } ?? .any
        settings.httpVersion =
            switch last(of: [.http11, .http2, .http2PriorKnowledge]) {
            case .http11: .http11
            case .http2: .http2
            case .http2PriorKnowledge: .http2PriorKnowledge
            default: .automatic
            }
        settings.minimumTLS = last(of: [.tls12, .tls13]).map { $0 == .tls12 ? .v12 : .v13 }
        settings.maximumTLS = try maximumTLS()
        if let lowest = settings.minimumTLS, let highest = settings.maximumTLS, lowest > highest {
            throw UsageError("--tlsv1.3 and --tls-max 1.2 leave no version of TLS")
        }
        settings.ciphers = arguments.value(.ciphers)
        settings.tls13Ciphers = arguments.value(.tls13Ciphers)
        settings.interface = arguments.value(.interface)
        settings.localPorts = try localPorts()
        settings.maxSpeed = try maxSpeed()
        settings.reportsCertificateFields = arguments.values(.writeOut).contains(where: WriteOutFormat.mayShowCertificates)
        return settings
    }

    private static let flags: Set<Flag.Name> = [
        .resolve, .connectTo, .unixSocket, .abstractUnixSocket, .ipv4, .ipv6, .http11, .http2, .http2PriorKnowledge, .tls12,
        .tls13, .tlsMax, .ciphers, .tls13Ciphers, .interface, .localPort, .limitRate, .writeOut,
    ]

    /// Returns the last given of several flags that exclude each other.
    private func last(of names: [Flag.Name]) -> Flag.Name? {
        arguments.flags.last { names.contains($0.name) }?.name
    }

    private var unixSocket: ConnectionSettings.UnixSocket? {
        guard let given = arguments.flags.last(where: { [.unixSocket, .abstractUnixSocket].contains($0.name) }) else {
            return nil
        }
        return given.name == .unixSocket ? .path(given.value) : .abstract(given.value)
    }

    /// Checks `HOST:PORT:ADDRESS[,ADDRESS]…`, with a leading `+` for an address that expires. libcurl would ignore a malformed
    /// value.
    private static func address(_ text: String) throws(UsageError) -> String {
        let parts = Self.parts(of: text.hasPrefix("+") ? String(text.dropFirst()) : text, atMost: 3)
        guard parts.count == 3, !parts[0].isEmpty, isPort(parts[1]), !parts[2].isEmpty else {
            throw UsageError("--resolve \(text) is not HOST:PORT:ADDRESS, such as example.com:443:127.0.0.1")
        }
        return text
    }

    /// Checks `HOST:PORT:TO:PORT`. Each part may be empty.
    private static func connection(_ text: String) throws(UsageError) -> String {
        let parts = Self.parts(of: text, atMost: 4)
        guard parts.count == 4, parts[1].isEmpty || isPort(parts[1]), parts[3].isEmpty || isPort(parts[3]) else {
            throw UsageError(
                "--connect-to \(text) is not HOST:PORT:TO:PORT, such as example.com:443:127.0.0.1:8443; each part may be empty")
        }
        return text
    }

    /// Splits at colons outside of brackets, which surround an IPv6 address.
    private static func parts(of text: String, atMost count: Int) -> [Substring.UTF8View] {
        var parts: [Substring.UTF8View] = []
        var rest = text[...].utf8
        while parts.count < count - 1 {
            let isBracketed = rest.first == UInt8(ascii: "[")
            let start = isBracketed ? rest.firstIndex(of: UInt8(ascii: "]")) ?? rest.startIndex : rest.startIndex
            guard let colon = rest[start...].firstIndex(of: UInt8(ascii: ":")) else { break }
            parts.append(rest[..<colon])
            rest = rest[rest.index(after: colon)...]
        }
        return parts + [rest]
    }

    private static func isPort(_ text: Substring.UTF8View) -> Bool { port(text) != nil }

    private static func port(_ text: Substring.UTF8View) -> UInt16? {
        guard text.count <= 5, let port = UInt16(digits: text), port > 0 else { return nil }
        return port
    }

    private func maximumTLS() throws(UsageError) -> ConnectionSettings.TLSVersion? {
        switch arguments.value(.tlsMax) {
        case nil, "default": nil
        case "1.2": .v12
        case "1.3": .v13
        case let text?: throw UsageError("--tls-max \(text) is not 1.2, 1.3 or default; older versions are not secure")
        }
    }

    private func localPorts() throws(UsageError) -> ClosedRange<UInt16>? {
        guard let text = arguments.value(.localPort) else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 1, omittingEmptySubsequences: false)
        let ports = parts.compactMap(Self.port)
        guard ports.count == parts.count, let first = ports.first, let last = ports.last, first <= last else {
            throw UsageError("--local-port \(text) is not a port or FIRST-LAST")
        }
        return first...last
    }

    /// The bytes per second of `--limit-rate`; nil for no limit.
    private func maxSpeed() throws(UsageError) -> Int64? {
        guard let text = arguments.value(.limitRate) else { return nil }
        let digits = text.utf8.prefix(while: \.isDigit)
        let unit: Int64? =
            switch String(decoding: text.utf8[digits.endIndex...], as: UTF8.self).lowercased() {
            case "", "b": 1
            case "k": 1 << 10
            case "m": 1 << 20
            case "g": 1 << 30
            default: nil
            }
        guard let unit, let count = Int64(digits: digits),
            case (let speed, let overflow) = count.multipliedReportingOverflow(by: unit), !overflow
        else { throw UsageError("--limit-rate \(text) is not a number of bytes per second, such as 500K or 2M") }
        return speed == 0 ? nil : speed
    }
}
