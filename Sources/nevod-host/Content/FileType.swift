/// The media types that curl knows by the end of a file's name.
enum FileType {
    private static let types = [
        (".gif", "image/gif"), (".jpg", "image/jpeg"), (".jpeg", "image/jpeg"), (".png", "image/png"), (".svg", "image/svg+xml"),
        (".txt", "text/plain"), (".htm", "text/html"), (".html", "text/html"), (".pdf", "application/pdf"),
        (".xml", "application/xml"),
    ]

    /// Returns nil for any other name.
    static func type(of name: String) -> String? {
        let name = name.lowercased()
        return types.first { name.hasSuffix($0.0) }?.1
    }
}
