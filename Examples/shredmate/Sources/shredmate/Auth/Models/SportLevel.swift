/// How well a rider knows a sport.
enum SportLevel: String, Codable, Sendable, CaseIterable {
    case beginner, intermediate, expert
}
