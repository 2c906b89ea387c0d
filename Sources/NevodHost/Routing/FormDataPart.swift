/// One part of a ``MultipartRoute``: a field, or a file.
public struct FormDataPart: Sendable {
    /// The source of a part's bytes.
    enum Content: Sendable {
        case bytes([UInt8])
        case file(path: String)
    }

    /// The name of the field.
    public let name: String
    /// The file name sent to the server; nil for a field.
    public let filename: String?
    /// The media type; if nil, none is sent and the server assumes text (RFC 7578 §4.4).
    public let mimeType: String?
    let content: Content

    /// The bytes of a part in memory; nil for a file that is read while it is sent.
    package var bytes: [UInt8]? { if case .bytes(let bytes) = content { bytes } else { nil } }

    private init(name: String, filename: String?, mimeType: String?, _ content: Content) {
        self.name = name
        self.filename = filename
        self.mimeType = mimeType
        self.content = content
    }

    /// Creates a field with text.
    public init(name: String, value: String) {
        self.init(name: name, filename: nil, mimeType: nil, .bytes(Array(value.utf8)))
    }

    /// Creates a field with bytes.
    public init(name: String, data: some Sequence<UInt8>, mimeType: String = "application/octet-stream") {
        self.init(name: name, filename: nil, mimeType: mimeType, .bytes(Array(data)))
    }

    /// Creates a file from bytes in memory.
    public init(name: String, filename: String, data: some Sequence<UInt8>, mimeType: String) {
        self.init(name: name, filename: filename, mimeType: mimeType, .bytes(Array(data)))
    }

    /// Creates a file that is read from disk while it is sent.
    ///
    /// - Parameters:
    ///   - name: the name of the field.
    ///   - path: the path of the file, absolute or relative to the working directory.
    ///   - filename: the file name sent to the server; nil for the last component of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    public init(name: String, path: String, filename: String? = nil, mimeType: String = "application/octet-stream") {
        let last = path.split(separator: "/").last.map(String.init) ?? path
        self.init(name: name, filename: filename ?? last, mimeType: mimeType, .file(path: path))
    }

    /// Creates an image file from bytes in memory.
    public static func image(
        name: String, filename: String, data: some Sequence<UInt8>, type: ImageType
    ) -> FormDataPart {
        FormDataPart(name: name, filename: filename, data: data, mimeType: type.mimeType)
    }

    /// The format of an image.
    public enum ImageType: String, Sendable, CaseIterable {
        /// Formats that browsers and servers commonly accept, named after their media subtypes.
        case jpeg, png, gif, bmp, tiff, webp

        /// The media type, such as `image/jpeg`.
        public var mimeType: String { "image/\(rawValue)" }
    }
}
