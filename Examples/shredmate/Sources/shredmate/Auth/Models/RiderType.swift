/// A rider's part: one that learns, or one that teaches.
enum RiderType: String, Codable, Sendable, CaseIterable {
    case rider, mentor
}
