/// An environment with a fixed base URL.
public struct SimpleEnvironment: NetworkEnvironmentProviding {
    public let baseURL: String

    /// - Parameter baseURL: an absolute `http` or `https` URL, validated with the first request.
    public init(baseURL: some URLRepresentation) {
        self.baseURL = baseURL.urlString
    }
}
