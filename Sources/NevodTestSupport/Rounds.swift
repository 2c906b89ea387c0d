import Glibc

/// The repetitions of a randomized test: how many, and the seed of their random numbers, which it prints so that a failure can
/// be repeated. For a name such as CRASH, the variables NEVOD_CRASH_ROUNDS and NEVOD_CRASH_SEED override both.
package struct Rounds: Sendable {
    package let count: Int
    package let seed: UInt64

    /// The generator, from its start.
    package var random: SeededRandom { SeededRandom(seed: seed) }

    /// - Parameter seed: for the same rounds in each run. A random one by default.
    package init(_ name: String, default count: Int, seed: UInt64? = nil) {
        self.count = Self.variable("NEVOD_\(name)_ROUNDS") ?? count
        self.seed = Self.variable("NEVOD_\(name)_SEED") ?? seed ?? .random(in: 0 ... .max)
        print("NEVOD_\(name)_SEED=\(self.seed), \(self.count) rounds")
    }

    private static func variable<Number: LosslessStringConvertible>(_ name: String) -> Number? {
        getenv(name).flatMap { Number(String(cString: $0)) }
    }
}
