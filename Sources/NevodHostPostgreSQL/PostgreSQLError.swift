internal import NevodStorage

/// Why a statement failed, and whether the server may have executed it.
struct PostgreSQLError: Error {
    let error: StorageError
    /// The SQLSTATE, five characters (PostgreSQL's documentation, appendix A); nil if the server gave none.
    var state: String?
    /// Whether the connection is lost, so that it is unknown whether the server executed the statement.
    var isConnectionLost = false
    /// Whether no connection could be made, so that nothing was sent.
    var isUnreachable = false

    /// Whether it is a serialization failure or a deadlock, so that a retry of the same statement can succeed.
    var isTransient: Bool { ["40001", "40P01"].contains(state) }
    /// Whether the wait for a lock timed out.
    var isLockTimeout: Bool { state == "55P03" }
}

extension StorageError {
    /// - Parameters:
    ///   - state: The SQLSTATE.
    ///   - message: The server's primary message. Never its details, which quote rows.
    init(_ subject: String, sqlState state: String, _ message: String) {
        let (code, remedy): (Code, String?) =
            switch (state.prefix(2), state) {
            case (_, "53100"): (.full, "free some space on the server's device")
            case (_, "53300"): (.unavailable, "raise max_connections, or use fewer connections")
            case ("28", _): (.permissions, "check the user, and the password in PGPASSFILE or the service file")
            case (_, "42501"): (.permissions, "let this user create the schema, or grant it access to the schema's tables")
            case (_, "42P01"), (_, "3F000"): (.damaged, "restore the schema from a backup")
            // A column, function or type differs from the layout, or has changed under an open connection.
            case (_, "42703"), (_, "42883"), (_, "42804"), (_, "0A000"):
                (
                    .damaged,
                    "the schema's tables are not as this program expects: update the program, or restore the schema from a backup"
                )
            case (_, "42P07"), (_, "42701"), (_, "42710"):
                (.damaged, "the schema has tables of another program: choose another schema")
            // A prepared statement is missing, or was made by another program, so the connection is shared with others.
            case (_, "26000"), (_, "42P05"): (.other, Self.poolerRemedy)
            case (_, "25006"): (.unavailable, "connect to the primary: target_session_attrs=read-write")
            case (_, "57014"), (_, "55P03"), ("40", _): (.busy, "try again")
            case (_, "54000"): (.tooLarge, nil)
            case ("08", _), ("53", _), ("57", _), ("58", _): (.unavailable, nil)
            case ("XX", _): (.damaged, nil)
            default: (.other, nil)
            }
        self.init(code, subject, problem: "\(message) (SQLSTATE \(state))", remedy: remedy)
    }

    /// - Parameter name: The server and the schema.
    static func isReplaced(_ name: String) -> StorageError {
        StorageError(
            .damaged, name, problem: "holds a different store from the one that was opened",
            remedy: "restore that store from a backup, or restart this program to use the new one")
    }
}
