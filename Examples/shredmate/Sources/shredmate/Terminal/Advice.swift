import NevodSessions

/// The text that tells what went wrong.
enum Advice {
    struct NotLoggedIn: Error {}
    struct NoPassword: Error {}

    struct UnreadableFile: Error {
        let path: String
    }

    private struct Problem: Decodable {
        let message: String
    }

    /// - Parameter isLoggedIn: whether a session is stored.
    static func text(for error: any Error, isLoggedIn: Bool) -> String {
        switch error {
        case is NotLoggedIn: "nobody is logged in; `shredmate login EMAIL` does it"
        case is NoPassword: "there is no password: set \(Password.variable), or type one"
        case let file as UnreadableFile: "\(file.path) can't be read"
        case AuthError.invalidCredentials: "wrong e-mail address or password"
        case AuthError.sessionExpired, NetworkError.unauthorized:
            "the server has ended your session; `shredmate login EMAIL` starts another"
        case AuthError.offline, NetworkError.authenticationFailed, NetworkError.noConnection, NetworkError.timeout,
            NetworkError.serverError:
            isLoggedIn
                ? "the server can't be reached; you are still logged in, so try again later"
                : "the server can't be reached; try again later"
        case AuthError.server(let error): text(for: error, isLoggedIn: isLoggedIn)
        case let error as NetworkError: (try? error.decode(Problem.self).message) ?? "\(error)"
        default: "\(error)"
        }
    }
}
