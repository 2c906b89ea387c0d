import Glibc

/// The size of a test in which a fleet's store is disturbed: small for CI; large if NEVOD_STORM_ROUNDS says how many rounds.
package struct StormSize: Sendable {
    package let processes: Int
    package let sessions: Int
    package let rounds: Int
    /// How long the store is away.
    package let outage: Duration

    package static var current: StormSize {
        guard let rounds = getenv("NEVOD_STORM_ROUNDS").flatMap({ Int(String(cString: $0)) }) else {
            return StormSize(processes: 8, sessions: 6, rounds: 2, outage: .seconds(4))
        }
        return StormSize(processes: 16, sessions: 20, rounds: rounds, outage: .seconds(20))
    }
}
