/// A page with a cursor to the next: `{"items": […], "next_cursor": "…", "has_more": true}`.
public struct CursorPageResponse<Item: Decodable & Sendable>: Decodable, Sendable {
    /// Of this page.
    public let items: [Item]
    /// Of the next page; nil behind the last.
    public let nextCursor: String?
    /// Whether there is another page.
    public let hasMore: Bool
    /// Items in the whole list, if the server says.
    public let total: Int?

    private enum CodingKeys: String, CodingKey {
        case items
        case nextCursor = "next_cursor"
        case hasMore = "has_more"
        case total
    }
}
