internal import NevodStorage

/// Why a statement failed, and what that leaves open.
struct PostgreSQLError: Error {
    let error: StorageError
    /// Five characters of the server's (its documentation's appendix A); nil: it said nothing.
    var state: String?
    /// The connection is gone, and nobody knows what the server has done.
    var isLost = false
    /// There was no connection, nor could one be made: nothing has been sent.
    var isUnreached = false

    /// Others were in the way: the same again will do.
    var isPassing: Bool { ["40001", "40P01"].contains(state) }
    /// A lock was waited for too long.
    var isOfLock: Bool { state == "55P03" }
}

extension StorageError {
    /// - Parameters:
    ///   - state: SQLSTATE.
    ///   - message: the server's own. Not its details, which quote rows.
    init(_ subject: String, sqlState state: String, _ message: String) {
        let (code, remedy): (Code, String?) =
            switch (state.prefix(2), state) {
            case (_, "53100"): (.full, "free some space on the server's device")
            case (_, "53300"): (.unavailable, "raise max_connections, or share fewer connections")
            case ("28", _): (.permissions, "check the user, and the password in PGPASSFILE or the service file")
            case (_, "42501"): (.permissions, "let this user create the schema, or grant it what the schema has")
            case (_, "42P01"), (_, "3F000"): (.damaged, "put the schema back from a backup")
            case (_, "25006"): (.unavailable, "connect to the primary: target_session_attrs=read-write")
            case (_, "57014"), (_, "55P03"), ("40", _): (.busy, "try once more")
            case (_, "54000"): (.tooLarge, nil)
            case ("08", _), ("53", _), ("57", _), ("58", _): (.unavailable, nil)
            case ("XX", _): (.damaged, nil)
            default: (.other, nil)
            }
        self.init(code, subject, problem: "\(message) (SQLSTATE \(state))", remedy: remedy)
    }
}
