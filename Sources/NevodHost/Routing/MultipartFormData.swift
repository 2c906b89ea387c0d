/// The form of an ``Endpoint`` that uploads files (`multipart/form-data`, RFC 7578).
///
/// ```swift
/// let form = MultipartFormData(fileData: image, fileName: "photo.jpg", mimeType: "image/jpeg")
/// ```
public struct MultipartFormData: Sendable {
    /// The parts, in the order in which they are sent.
    public var parts: [FormDataPart]

    /// Creates a form from its parts.
    public init(parts: [FormDataPart]) {
        self.parts = parts
    }

    /// Creates a form with a file from memory, preceded by additional fields.
    ///
    /// - Parameters:
    ///   - fileData: the file's bytes.
    ///   - fileName: the file name sent to the server.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    ///   - fieldName: the name of the file's part.
    ///   - fields: text fields sent before the file; fields from a dictionary variable are sorted by name.
    public init(
        fileData: some Sequence<UInt8>, fileName: String, mimeType: String, fieldName: String = "file",
        fields: ParameterList = [:]
    ) {
        self.init(
            fields: fields, FormDataPart(name: fieldName, filename: fileName, data: fileData, mimeType: mimeType))
    }

    /// Creates a form with a file that is read from disk while it is sent, preceded by additional fields.
    ///
    /// - Parameters:
    ///   - path: the path of the file, absolute or relative to the working directory.
    ///   - fileName: the file name sent to the server; nil for the last component of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    ///   - fieldName: the name of the file's part.
    ///   - fields: text fields sent before the file.
    public init(
        path: String, fileName: String? = nil, mimeType: String = "application/octet-stream", fieldName: String = "file",
        fields: ParameterList = [:]
    ) {
        self.init(
            fields: fields, FormDataPart(name: fieldName, path: path, filename: fileName, mimeType: mimeType))
    }

    private init(fields: ParameterList, _ file: FormDataPart) {
        parts = fields.parameters.map { FormDataPart(name: $0.name, value: $0.value) } + [file]
    }
}

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

/// Collects the parts of a ``MultipartRoute``, in the order in which they are sent.
public struct MultipartFormDataBuilder: Sendable {
    /// The parts, in the order in which they are sent.
    public private(set) var parts: [FormDataPart]

    /// The text between the parts (RFC 2046 §5.1.1).
    public let boundaryString: String
    /// Whether parts in memory are searched for the boundary. That isn't needed for a random one, which they can't contain.
    private let isChosen: Bool

    /// Creates a builder, optionally with parts. The boundary is random.
    public init(parts: [FormDataPart] = []) {
        self.parts = parts
        boundaryString = MultipartForm.randomBoundary()
        isChosen = false
    }

    /// Creates a builder with a boundary of your own, for tests that compare a whole body.
    ///
    /// - Parameters:
    ///   - boundary: 1 … 70 letters, digits, or any of `-_.+'`; must not occur in a part. Otherwise ``build()`` throws.
    ///   - parts: the first parts.
    public init(boundary: String, parts: [FormDataPart] = []) {
        self.parts = parts
        boundaryString = boundary
        isChosen = true
    }

    /// Adds a part.
    @discardableResult
    public mutating func addPart(_ part: FormDataPart) -> Self {
        parts.append(part)
        return self
    }

    /// Adds a field with text.
    @discardableResult
    public mutating func addTextField(name: String, value: String) -> Self {
        addPart(FormDataPart(name: name, value: value))
    }

    /// Adds a file from bytes in memory.
    @discardableResult
    public mutating func addFile(name: String, filename: String, data: some Sequence<UInt8>, mimeType: String) -> Self {
        addPart(FormDataPart(name: name, filename: filename, data: data, mimeType: mimeType))
    }

    /// Adds a file that is read from disk while it is sent.
    @discardableResult
    public mutating func addFile(
        name: String, path: String, filename: String? = nil, mimeType: String = "application/octet-stream"
    ) -> Self {
        addPart(FormDataPart(name: name, path: path, filename: filename, mimeType: mimeType))
    }

    /// Adds an image file from bytes in memory.
    @discardableResult
    public mutating func addImage(
        name: String, filename: String, data: some Sequence<UInt8>, type: FormDataPart.ImageType
    ) -> Self {
        addPart(.image(name: name, filename: filename, data: data, type: type))
    }

    /// Returns the form.
    ///
    /// - Throws: if a file can't be read, a media type holds a control character, or the boundary is invalid or occurs in a part.
    public func build() throws(InvalidRequestError) -> MultipartForm {
        var form = try MultipartForm(boundary: boundaryString)
        for part in parts {
            if isChosen, part.bytes?.holds(Array(boundaryString.utf8)) == true {
                throw InvalidRequestError(
                    .body, "the part \"\(part.name)\" contains the boundary; choose another, or let it be random")
            }
            let content: HTTPBody =
                switch part.content {
                case .bytes(let bytes): .bytes(bytes)
                case .file(let path): try .file(path)
                }
            try form.add(part.name, content, fileName: part.filename, contentType: part.mimeType)
        }
        return form
    }
}
