/// A rider's home.
struct BaseLocation: Codable, Sendable, Hashable {
    /// In degrees, from -90 to 90.
    var latitude: Double
    /// In degrees, from -180 to 180.
    var longitude: Double
    var name: String
}
