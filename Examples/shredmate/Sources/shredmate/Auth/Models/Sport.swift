/// A sport of the service's list.
struct Sport: Codable, Sendable, Hashable, Identifiable {
    /// Any text: one of the backend's ids has a slash.
    let id: String
    let name: String
}
