import Glibc

/// The number of a randomized test's rounds, and the seed of its random numbers, which is printed so that a failure can be
/// repeated. For a name such as CRASH, the variables NEVOD_CRASH_ROUNDS and NEVOD_CRASH_SEED override both.
package struct Rounds: Sendable {
    package let count: Int
    package let seed: UInt64

    /// A generator at its start.
    package var random: SeededRandom { SeededRandom(seed: seed) }

    /// - Parameter seed: makes each run the same; random by default.
    package init(_ name: String, default count: Int, seed: UInt64? = nil) {
        self.count = Self.variable("NEVOD_\(name)_ROUNDS") ?? count
        self.seed = Self.variable("NEVOD_\(name)_SEED") ?? seed ?? .random(in: 0 ... .max)
        print("NEVOD_\(name)_SEED=\(self.seed), \(self.count) rounds")
    }

    private static func variable<Number: LosslessStringConvertible>(_ name: String) -> Number? {
        getenv(name).flatMap { Number(String(cString: $0)) }
    }
}

/// SplitMix64. Equal seeds give equal numbers.
package struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// The size of a test that disturbs a fleet's store: small for CI; large if NEVOD_STORM_ROUNDS says how many rounds.
package struct StormSize: Sendable {
    package let processes: Int
    package let sessions: Int
    package let rounds: Int
    /// How long the store is unavailable.
    package let outage: Duration

    package static var current: StormSize {
        guard let rounds = getenv("NEVOD_STORM_ROUNDS").flatMap({ Int(String(cString: $0)) }) else {
            return StormSize(processes: 8, sessions: 6, rounds: 2, outage: .seconds(4))
        }
        return StormSize(processes: 16, sessions: 20, rounds: rounds, outage: .seconds(20))
    }
}
