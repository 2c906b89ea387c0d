internal import NevodPluginKit
internal import NevodSupport

/// Warns once that the default message covers the path but not the query: `?to=alice` has the same signature as `?to=mallory`.
final class UnsignedQueryWarning: Sendable {
    private let log: HostLog
    private let isGiven = Locked(false)

    init(_ log: HostLog) {
        self.log = log
    }

    func look(at request: borrowing RequestView) {
        guard !request.query.isEmpty,
            isGiven.withLock({ isGiven in
                defer { isGiven = true }
                return !isGiven
            })
        else { return }
        log(
            .warning,
            "the signature covers the path of the URL but not its query, which anybody on the way could change: use --set preset=strict, "
                + "or --set message=… with {target}, if the server can verify it")
    }
}
