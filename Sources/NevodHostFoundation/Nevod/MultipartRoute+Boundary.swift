public import NevodHost

extension MultipartRoute {
    /// Creates a route from parts, with a boundary of your own between them.
    public init(
        endpoint: String, domain: Domain, method: HTTPMethod = .post, queryParameters: [String: String]? = nil,
        parts: [FormDataPart], boundary: String, headers: [String: String]? = nil
    ) {
        self.init(
            endpoint: endpoint, domain: domain, method: method, queryParameters: queryParameters,
            formData: MultipartFormDataBuilder(boundary: boundary, parts: parts), headers: headers)
    }
}
