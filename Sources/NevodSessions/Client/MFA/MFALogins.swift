/// The logins that wait for a second factor, by the server's identifiers. Bounded: a user who never enters a code leaves one behind.
struct MFALogins {
    private static let limit = 16

    private var waiting: [(sessionId: String, ticket: LoginTicket)] = []

    /// The login's ticket; nil for a login that began elsewhere, such as before a restart of the app.
    func ticket(of sessionId: String) -> LoginTicket? {
        waiting.first { $0.sessionId == sessionId }?.ticket
    }

    mutating func add(_ sessionId: String, _ ticket: LoginTicket) {
        remove(sessionId)
        if waiting.count == Self.limit { waiting.removeFirst() }
        waiting.append((sessionId, ticket))
    }

    mutating func remove(_ sessionId: String) {
        waiting.removeAll { $0.sessionId == sessionId }
    }
}
