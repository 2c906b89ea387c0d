internal import NevodPluginKit
internal import NevodSupport

/// A response of one of the server's endpoints: JSON, or a form as some servers send, with a result or an error (RFC 6749 §5).
struct ServerAnswer {
    let status: Int
    /// Nil if the body is neither JSON nor a form with `error`, `access_token` or `device_code`.
    let json: JSONValue?

    init(_ response: FlowResponse) {
        status = response.status
        var json = try? response.json()
        if json == nil {
            let form = FormFields(parsing: response.text)
            if form["error"] != nil || form["access_token"] != nil || form["device_code"] != nil {
                json = .object(form.fields.map { JSONValue.Member($0.name, .string($0.value.text)) })
            }
        }
        self.json = json
    }

    /// The error's code; nil in a success.
    var error: String? { json?["error"]?.string }

    /// The result.
    ///
    /// - Parameter what: what was asked for, as in "the server refused WHAT".
    /// - Throws: ``SchemeError/denied(_:detail:)`` if the grant is no longer valid, ``SchemeError/unavailable(_:detail:)`` if a later
    ///   attempt may succeed.
    func success(_ what: String) throws(SchemeError) -> JSONValue {
        if status / 100 == 2, error == nil, let json { return json }
        throw failure(of: what)
    }

    func failure(of what: String) -> SchemeError {
        let code = error ?? ""
        switch code {
        case "temporarily_unavailable", "server_error", "slow_down": return .unavailable("the server can't serve \(what) now")
        case "": break
        default:
            return .denied("the server refused \(what): \(code)")
        }
        return .unavailable("the server's response to \(what) is not one of OAuth (status \(status))")
    }
}
