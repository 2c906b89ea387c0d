import NevodHost

/// `credential git get`: prints the credential for a server, or nothing, so that git asks its other helpers.
struct GitGet: CredentialWork {
    let request: GitCredential
    let url: String

    func run(_ source: CredentialSource) async throws {
        let credential = try await source.credential(for: url)
        guard var lines = try lines(of: credential, source) else { return }
        if let expiry = credential.expiresAt { lines.append("password_expiry_utc=\(expiry.seconds)") }
        try writeOutput(lines.map { "\($0)\n" }.joined())
    }

    /// Nil if git wants another user's.
    private func lines(of credential: IssuedCredential, _ source: CredentialSource) throws -> [String]? {
        switch try credential.form() {
        case .bearer(let token) where request.takesSchemes && request.mayUse("bearer"): return scheme("Bearer", token)
        case .authorization(let name, let value) where request.takesSchemes: return scheme(name, value)
        case .basic(let user, _) where request.username.map { $0 != user } ?? false: return nil
        default:
            let (user, password) = try credential.userAndPassword(user: request.username ?? source.username)
            return ["username=\(user)", "password=\(password)"]
        }
    }

    /// Marked as ephemeral, so that no other helper stores it.
    private func scheme(_ name: String, _ value: String) -> [String] {
        ["capability[]=authtype", "authtype=\(name)", "credential=\(value)", "ephemeral=1"]
    }
}
