/// A rider's role: learning or teaching.
enum RiderType: String, Codable, Sendable, CaseIterable {
    case rider, mentor
}
