/// Changed copies of an endpoint:
///
/// ```swift
/// let order = Endpoint<Receipt>.post("/orders").body(order).header("Idempotency-Key", key).auth(.bearerToken)
/// ```
extension Endpoint {
    /// Returns the endpoint with another body: a value, encoded by the encoder of the client's configuration.
    public func body(_ value: some Encodable & Sendable) -> Endpoint {
        body(.json(value))
    }

    /// Returns the endpoint with another body.
    public func body(_ body: RequestBody) -> Endpoint {
        Endpoint(method, location, query: query, body: body, headers: headers, auth: auth)
    }

    /// Returns the endpoint with a header line, which replaces all of its lines with this name in any case (RFC 9110 §5.1).
    ///
    /// - Parameters:
    ///   - name: the name. An invalid one, or an invalid value, fails the request before it is sent.
    ///   - value: the value.
    public func header(_ name: String, _ value: String) -> Endpoint {
        let lowercased = name.lowercased()
        var headers = (headers ?? [:]).filter { $0.key.lowercased() != lowercased }
        headers[name] = value
        return Endpoint(method, location, query: query, body: body, headers: headers, auth: auth)
    }

    /// Returns the endpoint with more parameters in its query, after those that it has.
    public func query(_ parameters: ParameterList) -> Endpoint {
        let all = ParameterList(query.parameters + parameters.parameters)
        return Endpoint(method, location, query: all, body: body, headers: headers, auth: auth)
    }

    /// Returns the endpoint with one more parameter in its query, after those that it has.
    ///
    /// - Parameters:
    ///   - name: the name, not encoded.
    ///   - value: the value, not encoded.
    public func query(_ name: String, _ value: String) -> Endpoint {
        query(ParameterList([ParameterList.Parameter(name, value)]))
    }

    /// Returns the endpoint with another credential that it needs.
    public func auth(_ requirement: AuthRequirement) -> Endpoint {
        Endpoint(method, location, query: query, body: body, headers: headers, auth: requirement)
    }
}
