/// A scheme, as far as the check of a request's ``SchemeParameters`` needs to know it. (A ``ParameterTaking``, in contrast, is what
/// puts the scheme's credential on requests.)
protocol ParameterDeclaring: Sendable {
    /// The path of its library.
    var plugin: String { get }
    var id: String { get }
    var parameterNames: [String] { get }

    /// Throws if a value of one of its own parameters is invalid. Ignores the parameters of others.
    func checkValues(of given: SchemeParameters) throws(PluginError)
}

/// An interceptor or a token of a scheme.
protocol ParameterTaking {
    /// Nil if there is no scheme behind it.
    var parameterDeclaring: (any ParameterDeclaring)? { get }
}

extension InterceptorChain {
    /// Checks the parameters of a request before anything is sent. Each name must be known to at least one scheme of the chain.
    func check(_ parameters: SchemeParameters) throws(NetworkError) {
        let valid = declaring.flatMap(\.parameterNames)
        for parameter in parameters.values where !valid.contains(parameter.name) {
            guard let last = declaring.last else {
                throw NetworkError(
                    InvalidRequestError(
                        .parameter(parameter.name),
                        "no scheme authorizes this request; leave it out, or add the scheme's interceptor"))
            }
            throw .plugin(
                PluginError(last.plugin, .unknownParameter(schemes: declaring.map(\.id), name: parameter.name, valid: valid)))
        }
        for scheme in declaring {
            do throws(PluginError) { try scheme.checkValues(of: parameters) } catch { throw .plugin(error) }
        }
    }
}
