/// The body that adds or changes a sport of a rider.
struct SportRequest: Codable, Sendable, Hashable {
    let level: SportLevel
}
