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
    ///   - fields: text fields sent before the file; those of a dictionary variable are sorted by name.
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
