import NevodHost

/// `header`: prints what authorizes a request, for another program. The output contains the credential on purpose.
struct HeaderCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        guard let format = CredentialFormat(rawValue: arguments.value(.format) ?? "lines") else {
            throw UsageError("--format must be one of \(CredentialFormat.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        let output = try CredentialOutput(arguments, isForPrograms: format.isForPrograms)
        let operations = try withURL().operations
        guard let arguments = operations.first, operations.count == 1 else {
            throw UsageError("header takes one URL, but \(operations.count) were given")
        }
        try CredentialScope(arguments).check()
        let request = try RequestBuilder(arguments: arguments).build().request
        let credential = try await CredentialSource(arguments: arguments, console: console, session: session)
            .credential(for: request, isReusable: format == .netrc)
        try output.write(
            format.text(
                credential, host: request.origin.host, user: arguments.value(.username) ?? CredentialSource.defaultUsername))
    }

    /// Returns the arguments, with the profile's URL if they have none.
    private func withURL() throws -> Arguments {
        guard arguments.operands.isEmpty else { return arguments }
        guard let url = arguments.profile?.baseURL else {
            throw UsageError("header needs a URL, or a --profile with one: nevod-host header --plugin NAME URL")
        }
        return arguments.with(operands: [url])
    }
}
