/// How long a renewal lock outlives its holder's connection.
package struct PostgreSQLRenewalTimes: Sendable {
    /// The interval at which a holder repeats that it is alive.
    let beat: Duration
    /// A holder without a connection loses the lock to a waiter that has seen no sign of it for this long, on a server that responded
    /// all the while. Longer than a pause of a process, or a reconnection, takes.
    let patience: Duration
    /// A holder that has a connection, but gives no sign of life, loses the lock after this time.
    let term: Duration

    /// - Parameters:
    ///   - beat: The interval of the signs of life; several of them must fit into `patience`.
    ///   - patience: How long a waiter watches a holder that has lost its connection.
    ///   - term: How long a holder with a connection may be silent.
    package init(beat: Duration = .seconds(2), patience: Duration = .seconds(20), term: Duration = .seconds(120)) {
        self.beat = beat
        self.patience = patience
        self.term = term
    }
}
