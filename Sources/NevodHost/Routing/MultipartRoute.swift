/// A route that sends a form with several parts, which can be files (`multipart/form-data`, RFC 7578).
public struct MultipartRoute<Response: Decodable, Domain: ServiceDomain>: Route {

    public var domain: Domain
    public var endpoint: String
    /// The method; by default POST.
    public var method: HTTPMethod
    public var queryParameters: [String: String]?
    public var headers: [String: String]?
    /// The parts of the form.
    public var formData: MultipartFormDataBuilder

    /// Creates a route from a builder.
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

    /// Creates a route from parts, sent in this order.
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
    /// Creates a route that uploads a file from memory, preceded by additional fields, sorted by name.
    public static func uploadFile(
        endpoint: String, domain: Domain, fieldName: String = "file", filename: String, fileData: some Sequence<UInt8>,
        mimeType: String, additionalFields: [String: String] = [:]
    ) -> MultipartRoute {
        upload(
            endpoint, domain, additionalFields,
            FormDataPart(name: fieldName, filename: filename, data: fileData, mimeType: mimeType))
    }

    /// Creates a route that uploads a file, read from disk while it is sent, preceded by additional fields, sorted by name.
    ///
    /// - Parameters:
    ///   - endpoint: the path below the service's base URL; see ``Route/endpoint``.
    ///   - domain: the service that the request goes to.
    ///   - fieldName: the name of the file's part.
    ///   - path: the path of the file, absolute or relative to the working directory.
    ///   - filename: the file name sent to the server; nil for the last component of the path.
    ///   - mimeType: the file's media type (RFC 9110 §8.3.1).
    ///   - additionalFields: text fields sent before the file, sorted by name.
    public static func uploadFile(
        endpoint: String, domain: Domain, fieldName: String = "file", path: String, filename: String? = nil,
        mimeType: String = "application/octet-stream", additionalFields: [String: String] = [:]
    ) -> MultipartRoute {
        upload(
            endpoint, domain, additionalFields,
            FormDataPart(name: fieldName, path: path, filename: filename, mimeType: mimeType))
    }

    /// Creates a route that uploads an image from memory, preceded by additional fields, sorted by name.
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
