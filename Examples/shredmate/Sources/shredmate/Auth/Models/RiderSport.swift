/// A sport that a rider does.
struct RiderSport: Codable, Sendable, Hashable {
    let sport: Sport
    let level: SportLevel
}
