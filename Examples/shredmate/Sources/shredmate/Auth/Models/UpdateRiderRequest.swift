/// The changes of a rider's profile. A property that is nil stays as it is.
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
