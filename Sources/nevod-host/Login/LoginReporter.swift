import NevodHost
import NevodSupport

/// Reports the origins that a login sends to: those of its settings when it begins, and those of an issuer's metadata before their
/// first use.
final class LoginReporter: Sendable {
    private let console: Console
    private let shown: Locked<Set<String>>
    private let sent = Locked(false)

    /// - Parameter origins: those that the settings name.
    init(console: Console, origins: [String]) {
        self.console = console
        shown = Locked(Set(origins))
    }

    func loginBegins(_ title: String, _ origins: [Origin]) {
        let places = origins.map(\.description).joined(separator: ", ")
        console.inform("logging in with \"\(title)\"" + (origins.isEmpty ? "" : ", which sends to \(places)"))
    }

    /// Whether the login has sent a request.
    var hasSent: Bool { sent.withLock(\.self) }

    func willSend(to origin: Origin) {
        sent.withLock { $0 = true }
        let isNew = shown.withLock { $0.insert(origin.description).inserted }
        if isNew { console.inform("the login also sends to \(origin), which its issuer's metadata names") }
    }
}
