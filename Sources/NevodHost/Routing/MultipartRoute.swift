/// A route that sends a form of several parts (`multipart/form-data`, RFC 7578), files among them.
public struct MultipartRoute<Response: Decodable, Domain: ServiceDomain>: Route {

    public var domain: Domain
    public var endpoint: String
    /// POST unless told otherwise.
    public var method: HTTPMethod
    public var queryParameters: [String: String]?
    public var headers: [String: String]?
    /// The parts.
    public var formData: MultipartFormDataBuilder

    /// Of parts that were collected.
    public init(
        endpoint: String, domain: Domain, method: HTTPMethod = .post, queryParameters: [String: String]? = nil,
        formData: MultipartFormDataBuilder, headers: [String: String]? = nil
    ) {
        self.endpoint = endpoint
        self.domain = domain
        self.method = method
        self.queryParameters = queryParameters
        self.formData = formData
        self.headers = headers
    }

    /// Of these parts, in their order.
    public init(
        endpoint: String, domain: Domain, method: HTTPMethod = .post, queryParameters: [String: String]? = nil,
        parts: [FormDataPart], headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, method: method, queryParameters: queryParameters,
            formData: MultipartFormDataBuilder(parts: parts), headers: headers)
    }

    public func body(using encoder: any BodyEncoder) throws -> RouteBody? {
        let form = try formData.build()
        return RouteBody(form.body, contentType: form.contentType)
    }
}

extension MultipartRoute {
    /// One file, and fields before it, sorted by name.
    public static func uploadFile(
        endpoint: String, domain: Domain, fieldName: String = "file", filename: String, fileData: some Sequence<UInt8>,
        mimeType: String, additionalFields: [String: String] = [:]
    ) -> MultipartRoute {
        upload(
            endpoint, domain, additionalFields,
            FormDataPart(name: fieldName, filename: filename, data: fileData, mimeType: mimeType))
    }

    /// One file, read from the disk while it is sent, and fields before it, sorted by name.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the service's; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - fieldName: the name of the file's part.
    ///   - path: of the file, absolute or from the working directory.
    ///   - filename: what the server is told; nil: the last part of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    ///   - additionalFields: parts with text before the file's, sorted by name.
    public static func uploadFile(
        endpoint: String, domain: Domain, fieldName: String = "file", path: String, filename: String? = nil,
        mimeType: String = "application/octet-stream", additionalFields: [String: String] = [:]
    ) -> MultipartRoute {
        upload(
            endpoint, domain, additionalFields,
            FormDataPart(name: fieldName, path: path, filename: filename, mimeType: mimeType))
    }

    /// One image, and fields before it, sorted by name.
    public static func uploadImage(
        endpoint: String, domain: Domain, fieldName: String = "image", filename: String, imageData: some Sequence<UInt8>,
        imageType: FormDataPart.ImageType, additionalFields: [String: String] = [:]
    ) -> MultipartRoute {
        upload(
            endpoint, domain, additionalFields,
            .image(name: fieldName, filename: filename, data: imageData, type: imageType))
    }

    private static func upload(
        _ endpoint: String, _ domain: Domain, _ fields: [String: String], _ file: FormDataPart
    ) -> MultipartRoute {
        let fields = ParameterList(fields).parameters.map { FormDataPart(name: $0.name, value: $0.value) }
        return MultipartRoute(endpoint: endpoint, domain: domain, parts: fields + [file])
    }
}
