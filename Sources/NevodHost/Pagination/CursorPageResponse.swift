/// A page with a cursor for the next page: `{"items": […], "next_cursor": "…", "has_more": true}`.
public struct CursorPageResponse<Item: Decodable & Sendable>: Decodable, Sendable {
    /// The items of this page.
    public let items: [Item]
    /// The cursor of the next page; nil after the last.
    public let nextCursor: String?
    /// Whether there is another page.
    public let hasMore: Bool
    /// The number of items in the whole list; nil if the server doesn't send it.
    public let total: Int?

    private enum CodingKeys: String, CodingKey {
        case items
        case nextCursor = "next_cursor"
        case hasMore = "has_more"
        case total
    }
}
