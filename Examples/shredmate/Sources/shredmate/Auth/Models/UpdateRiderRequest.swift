/// The changes to a rider's profile. A nil property stays unchanged.
struct UpdateRiderRequest: Codable, Sendable, Hashable {
    var name: String?
    var type: RiderType?
    var description: String?

    init(name: String? = nil, type: RiderType? = nil, description: String? = nil) {
        self.name = name
        self.type = type
        self.description = description
    }
}
