internal import NevodSupport

/// The writer of a part of a request. The host records it for every header line, query item and cookie, so that it can redact
/// and strip exactly what a token or scheme wrote, under any name.
///
/// Stored as an index into a table of names, because every header line has a provenance. The table is never pruned, because
/// distinct names are few.
public struct Provenance: Sendable, Hashable {
    private let number: UInt32

    /// The program that made the request, or the user of the command line.
    public static let caller = Provenance(number: 0)
    /// The host itself, for Host, Content-Length and similar lines.
    public static let host = Provenance(number: 1)
    /// The caller, for text that is known to be a credential. It is treated like a token's text.
    package static let callerSecret = Provenance(number: 2)

    /// A token, with the name of its type.
    public static func token(_ name: String) -> Provenance { named("token \(name)") }

    /// A plugin's scheme, with its id.
    public static func scheme(_ id: String) -> Provenance { named("scheme \(id)") }

    /// Whether the writer is a token or scheme. Text that it wrote is redacted, and stripped when a redirect leaves the origin.
    public var writesCredentials: Bool { number > Provenance.host.number }

    private static let names = Locked(["caller", "host", "caller's secret"])

    private static func named(_ name: String) -> Provenance {
        names.withLock { names in
            if let known = names.firstIndex(of: name) { return Provenance(number: UInt32(known)) }
            names.append(name)
            return Provenance(number: UInt32(names.count - 1))
        }
    }
}

extension Provenance: CustomStringConvertible {
    public var description: String { Provenance.names.withLock { $0[Int(number)] } }
}

/// The previous name of ``Provenance``.
@available(*, deprecated, renamed: "Provenance")
public typealias Author = Provenance
