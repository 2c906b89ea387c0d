/// An environment that is no more than its address.
public struct SimpleEnvironment: NetworkEnvironmentProviding {
    public let baseURL: String

    /// - Parameter baseURL: absolute, `http` or `https`; checked when the first request is made.
    public init(baseURL: some URLRepresentation) {
        self.baseURL = baseURL.urlString
    }
}
