/// Collects the parts of a ``MultipartRoute``, in the order in which they are sent.
public struct MultipartFormDataBuilder: Sendable {
    /// The parts, in the order in which they are sent.
    public private(set) var parts: [FormDataPart]

    /// Creates a builder, optionally with parts.
    public init(parts: [FormDataPart] = []) {
        self.parts = parts
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
    /// - Throws: if a file can't be read, or a media type holds a control character.
    public func build() throws(InvalidRequestError) -> MultipartForm {
        var form = MultipartForm()
        for part in parts {
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
