/// Collects the parts of a ``MultipartRoute``, in the order of the wire.
public struct MultipartFormDataBuilder: Sendable {
    /// In the order of the wire.
    public private(set) var parts: [FormDataPart]

    /// Begins with these parts.
    public init(parts: [FormDataPart] = []) {
        self.parts = parts
    }

    /// Any part.
    @discardableResult
    public mutating func addPart(_ part: FormDataPart) -> Self {
        parts.append(part)
        return self
    }

    /// A field with text.
    @discardableResult
    public mutating func addTextField(name: String, value: String) -> Self {
        addPart(FormDataPart(name: name, value: value))
    }

    /// A file whose bytes are in memory.
    @discardableResult
    public mutating func addFile(name: String, filename: String, data: some Sequence<UInt8>, mimeType: String) -> Self {
        addPart(FormDataPart(name: name, filename: filename, data: data, mimeType: mimeType))
    }

    /// Of a file that is read from the disk while it is sent.
    @discardableResult
    public mutating func addFile(
        name: String, path: String, filename: String? = nil, mimeType: String = "application/octet-stream"
    ) -> Self {
        addPart(FormDataPart(name: name, path: path, filename: filename, mimeType: mimeType))
    }

    /// An image whose bytes are in memory.
    @discardableResult
    public mutating func addImage(
        name: String, filename: String, data: some Sequence<UInt8>, type: FormDataPart.ImageType
    ) -> Self {
        addPart(.image(name: name, filename: filename, data: data, type: type))
    }

    /// - Throws: for a file that can't be read, and for a media type with a control character.
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
