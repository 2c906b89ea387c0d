/// A page in a common format: `{"items": […], "has_more": true, "total": 120}`.
public struct StandardPageResponse<Item: Decodable & Sendable>: Decodable, Sendable {
    /// The items of this page.
    public let items: [Item]
    /// Whether there is another page.
    public let hasMore: Bool
    /// The number of items in the whole list; nil if the server doesn't send it.
    public let total: Int?

    private enum CodingKeys: String, CodingKey {
        case items
        case hasMore = "has_more"
        case total
    }
}
