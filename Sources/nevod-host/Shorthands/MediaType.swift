/// The media types of files, by the ends of their names.
enum MediaType {
    private static let types: [(end: String, type: String)] = [
        ("csv", "text/csv"), ("gif", "image/gif"), ("gz", "application/gzip"), ("html", "text/html"), ("jpeg", "image/jpeg"),
        ("jpg", "image/jpeg"), ("js", "text/javascript"), ("json", "application/json"), ("pdf", "application/pdf"),
        ("png", "image/png"), ("svg", "image/svg+xml"), ("txt", "text/plain"), ("xml", "application/xml"),
        ("zip", "application/zip"),
    ]

    /// Returns the type of a file; nil if its name says nothing.
    static func ofFile(_ path: String) -> String? {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last ?? Substring(path).utf8
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")) else { return nil }
        let end = String(decoding: name[dot...].dropFirst(), as: UTF8.self).lowercased()
        return types.first { $0.end == end }?.type
    }
}
