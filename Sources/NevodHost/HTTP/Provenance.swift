internal import NevodSupport

/// Who wrote a part of a request. The host keeps it beside every header line, query item and cookie, so that it can redact
/// and strip exactly what a credential's author wrote, whatever name it went under.
///
/// A small number, because every line carries one; the names behind the numbers are few and stay for ever.
public struct Provenance: Sendable, Hashable {
    private let number: UInt32

    /// The program that made the request, or the person at the command line.
    public static let caller = Provenance(number: 0)
    /// The host itself: Host, Content-Length and the like.
    public static let host = Provenance(number: 1)

    /// A token, by the name of its type.
    public static func token(_ name: String) -> Provenance { named("token \(name)") }

    /// A scheme of a plugin, by its id.
    public static func scheme(_ id: String) -> Provenance { named("scheme \(id)") }

    /// Tokens and schemes write credentials: nobody else gets to see what they wrote.
    public var writesCredentials: Bool { number > Provenance.host.number }

    private static let names = Locked(["caller", "host"])

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

@available(*, deprecated, renamed: "Provenance")
public typealias Author = Provenance
