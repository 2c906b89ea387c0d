/// Collects the parts of a ``MultipartRoute``, in the order in which they are sent.
public struct MultipartFormDataBuilder: Sendable {
    /// The parts, in the order in which they are sent.
    public private(set) var parts: [FormDataPart]

    /// The text between the parts (RFC 2046 §5.1.1).
    public let boundaryString: String
    /// Whether parts in memory are searched for the boundary: content can't contain a random one.
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
                throw InvalidRequestError(.body, "the part \"\(part.name)\" contains the boundary; choose another, or none")
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
