/// The programs whose protocols `credential` knows.
enum CredentialHelper: String, CaseIterable {
    case git, docker
    case kubectl = "kubectl-exec"
    case netrc

    /// The words that may follow.
    var operations: [String] {
        switch self {
        case .git: ["get", "store", "erase"]
        case .docker: ["get", "list", "store", "erase"]
        case .kubectl, .netrc: []
        }
    }

    /// Whether the program writes its request to standard input.
    var readsInput: Bool { self == .git || self == .docker }
}
