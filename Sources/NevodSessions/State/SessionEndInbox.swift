internal import NevodSupport

/// Ends of sessions that a state has not applied yet. They are reported on any thread, before the requests that caused them fail.
final class SessionEndInbox: Sendable {
    private let ends = Locked<[SessionEnd]>([])

    func put(_ end: SessionEnd) {
        ends.withLock { $0.append(end) }
    }

    func take() -> [SessionEnd] {
        ends.withLock { ends in
            defer { ends = [] }
            return ends
        }
    }
}
