import Glibc

/// The repetitions of a randomized test: how many, and the seed of their random numbers, which it prints so that a failure can
/// be repeated. For a name such as CRASH, the variables NEVOD_CRASH_ROUNDS and NEVOD_CRASH_SEED override both.
package struct Rounds: Sendable {
    package let count: Int
    package let seed: UInt64

    /// The generator, from its start.
    package var random: SeededRandom { SeededRandom(seed: seed) }

    package init(_ name: String, default count: Int) {
        self.count = Self.variable("NEVOD_\(name)_ROUNDS") ?? count
        seed = Self.variable("NEVOD_\(name)_SEED") ?? .random(in: 0 ... .max)
        print("NEVOD_\(name)_SEED=\(seed), \(self.count) rounds")
    }

    private static func variable<Number: LosslessStringConvertible>(_ name: String) -> Number? {
        getenv(name).flatMap { Number(String(cString: $0)) }
    }
}
