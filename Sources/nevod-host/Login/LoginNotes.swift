import NevodHost
import NevodSupport

/// Tells where a login sends to: what its settings name when it begins, and what an issuer's metadata adds before it is used.
final class LoginNotes: Sendable {
    private let console: Console
    private let shown: Locked<Set<String>>
    private let sent = Locked(false)

    /// - Parameter named: the origins that the settings name.
    init(console: Console, named: [String]) {
        self.console = console
        shown = Locked(Set(named))
    }

    func begin(_ title: String, _ origins: [Origin]) {
        let places = origins.map(\.description).joined(separator: ", ")
        console.inform("logging in with \"\(title)\"" + (origins.isEmpty ? "" : ", which sends to \(places)"))
    }

    var hasSent: Bool { sent.withLock(\.self) }

    func willSend(to origin: Origin) {
        sent.withLock { $0 = true }
        let isNew = shown.withLock { $0.insert(origin.description).inserted }
        if isNew { console.inform("the login sends to \(origin), too, which its issuer's metadata names") }
    }
}
