/// A request of a token's renewal needs a second token whose renewal waits for the first.
struct RenewalCycleError: Error, CustomStringConvertible {
    var description: String { "its renewal needs another token, whose renewal waits for this one" }
}
