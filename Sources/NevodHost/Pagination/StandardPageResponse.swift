/// A page as many servers write it: `{"items": […], "has_more": true, "total": 120}`.
public struct StandardPageResponse<Item: Decodable & Sendable>: Decodable, Sendable {
    /// Of this page.
    public let items: [Item]
    /// Whether there is another page.
    public let hasMore: Bool
    /// Items in the whole list, if the server says.
    public let total: Int?

    private enum CodingKeys: String, CodingKey {
        case items
        case hasMore = "has_more"
        case total
    }
}
