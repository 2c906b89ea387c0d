internal import NevodOAuth
internal import NevodPluginKit
internal import NevodSupport

extension AuthorizationResponse {
    /// The code.
    ///
    /// - Throws: the server's error, or the reason why the response is invalid or may come from another server.
    func code(from server: Endpoints) throws(SchemeError) -> Secret {
        let outcome: Outcome
        do throws(Fault) {
            // Without a known issuer, the login has only the server in its settings.
            outcome = try self.outcome(issuer: server.issuer, namesIssuer: server.namesIssuer)
        } catch {
            throw .denied(Self.problem(error, server.issuer ?? ""))
        }
        switch outcome {
        case .code(let code): return Secret(code)
        case .error(let code, let description): throw Self.failure(code, ServerWords.inParentheses(description))
        }
    }

    private static func problem(_ fault: Fault, _ issuer: String) -> String {
        switch fault {
        case .repeated(let name, let count):
            "the browser's redirect has \(count) values of \"\(name)\"; one of them may be somebody else's"
        case .noIssuer:
            "the browser's redirect names no issuer, but the metadata of \(issuer) says that its redirects do: it may be from "
                + "another server, so its code was not used"
        case .otherIssuer(let other):
            "the browser's redirect is from the issuer \(ServerWords.name(other)), but the login was started at \(issuer): its code "
                + "was not used"
        case .noCode: "the browser's redirect has neither a code nor an error"
        case .invalidCode:
            "the browser's redirect has an invalid code: empty, too long, or with characters that no code has"
        }
    }

    private static func failure(_ code: String, _ words: String) -> SchemeError {
        switch code {
        case "access_denied": .denied("the login was refused in the browser\(words)")
        case "temporarily_unavailable", "server_error": .unavailable("the server can't log anybody in now: \(code)\(words)")
        case "invalid_scope": .denied("the server does not offer the requested scope\(words); change the setting scope")
        default: .denied("the server refused the login: \(ServerWords.text(code))\(words)")
        }
    }
}
