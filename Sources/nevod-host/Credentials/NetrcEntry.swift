import NevodHost

/// `credential netrc`: one entry of a netrc file.
struct NetrcEntry: CredentialWork {
    let url: String
    let output: CredentialOutput

    func run(_ source: CredentialSource) async throws {
        let credential = try await source.credential(for: url)
        let host = try HTTPRequest(.get, url).origin.host
        try output.write(CredentialFormat.netrc.text(credential, host: host, user: source.username))
    }
}
