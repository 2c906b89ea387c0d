import NevodHostFoundation

struct Problem: Decodable {
    let message: String
}

/// The text to show to a user.
func advice(on error: NetworkError) -> String {
    switch error {
    case .unauthorized: "please sign in"
    case .authenticationFailed, .noConnection, .timeout, .serverError: "please try again later; you are still signed in"
    case .clientError(429, _, _): "too many requests; please wait"
    case .clientError: (try? error.decode(Problem.self).message) ?? "that is not possible"
    case .cancelled: ""
    default: "something is wrong with this program: \(error)"
    }
}
