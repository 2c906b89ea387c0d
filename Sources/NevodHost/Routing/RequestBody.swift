/// The body of an ``Endpoint``.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// A value, encoded by the encoder of the client's configuration: usually JSON.
    case json(any Encodable & Sendable)
    /// Bytes, sent unchanged. Their media type is `application/octet-stream` unless the endpoint's headers have a Content-Type.
    case raw([UInt8])
    /// A form with several parts, which can be files.
    case multipart(MultipartFormData)

    /// Bytes of another type, such as Foundation's `Data`.
    @_disfavoredOverload
    public static func raw(_ bytes: some Sequence<UInt8>) -> RequestBody {
        .raw(Array(bytes))
    }
}
