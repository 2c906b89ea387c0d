/// One part of a ``MultipartRoute``: a field, or a file.
public struct FormDataPart: Sendable {
    /// Where a part's bytes come from.
    enum Content: Sendable {
        case bytes([UInt8])
        case file(path: String)
    }

    /// The name of the field.
    public let name: String
    /// Makes the part a file for the server.
    public let filename: String?
    /// Nil: none is sent, and the server takes the part for text (RFC 7578 §4.4).
    public let mimeType: String?
    let content: Content

    private init(name: String, filename: String?, mimeType: String?, _ content: Content) {
        self.name = name
        self.filename = filename
        self.mimeType = mimeType
        self.content = content
    }

    /// A field with text.
    public init(name: String, value: String) {
        self.init(name: name, filename: nil, mimeType: nil, .bytes(Array(value.utf8)))
    }

    /// A field with bytes.
    public init(name: String, data: some Sequence<UInt8>, mimeType: String = "application/octet-stream") {
        self.init(name: name, filename: nil, mimeType: mimeType, .bytes(Array(data)))
    }

    /// A file whose bytes are in memory.
    public init(name: String, filename: String, data: some Sequence<UInt8>, mimeType: String) {
        self.init(name: name, filename: filename, mimeType: mimeType, .bytes(Array(data)))
    }

    /// A file that is read from the disk while it is sent.
    ///
    /// - Parameters:
    ///   - name: of the form's field.
    ///   - path: of the file, absolute or from the working directory.
    ///   - filename: what the server is told; nil: the last part of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    public init(name: String, path: String, filename: String? = nil, mimeType: String = "application/octet-stream") {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        self.init(name: name, filename: filename ?? last, mimeType: mimeType, .file(path: path))
    }

    /// An image whose bytes are in memory.
    public static func image(
        name: String, filename: String, data: some Sequence<UInt8>, type: ImageType
    ) -> FormDataPart {
        FormDataPart(name: name, filename: filename, data: data, mimeType: type.mimeType)
    }

    /// An image's media type.
    public enum ImageType: String, Sendable, CaseIterable {
        /// Those that browsers and servers commonly take; their names are the media subtypes (`image/webp`).
        case jpeg, png, gif, bmp, tiff, webp

        /// `image/jpeg` and so on.
        public var mimeType: String { "image/\(rawValue)" }
    }
}
