public import NevodHost

extension SimpleRoute {
    /// The parameters that are sent in the body; nil if there are none. Of several with one name, the last.
    public var bodyParameters: [String: String]? {
        guard parameterEncoding != .query, !parameterList.isEmpty else { return nil }
        return Dictionary(parameterList.parameters.map { ($0.name, $0.value) }) { $1 }
    }
}
