import NevodHost
import NevodSupport

/// A request for a credential from kubectl or another client of Kubernetes: an ExecCredential of client.authentication.k8s.io in
/// the variable KUBERNETES_EXEC_INFO.
struct ExecCredential: Sendable {
    let version: String
    /// Whether questions may be asked.
    let isInteractive: Bool
    /// Nil unless `provideClusterInfo` is set.
    let server: String?

    private static let group = "client.authentication.k8s.io"

    /// - Parameter text: the variable; nil if a person runs the command.
    init(_ text: String?) throws(UsageError) {
        guard let text, !text.isEmpty else {
            (version, isInteractive, server) = ("\(Self.group)/v1", true, nil)
            return
        }
        let json: JSONValue
        do { json = try JSONValue(parsing: text) } catch {
            throw UsageError("KUBERNETES_EXEC_INFO is not JSON: \(error)")
        }
        guard json["kind"]?.string == "ExecCredential", let version = json["apiVersion"]?.string else {
            throw UsageError("KUBERNETES_EXEC_INFO is not an ExecCredential")
        }
        guard ["v1", "v1beta1"].map({ "\(Self.group)/\($0)" }).contains(version) else {
            throw UsageError(
                "KUBERNETES_EXEC_INFO has the version \(TerminalText.safe(version)); set apiVersion: \(Self.group)/v1 in the kubeconfig"
            )
        }
        self.version = version
        // Clients before v1 don't say whether they are interactive.
        isInteractive = json["spec"]?["interactive"]?.bool ?? true
        server = json["spec"]?["cluster"]?["server"]?.string
    }

    /// Returns the arguments with the profile, and the URL to authorize requests for.
    func profile(_ arguments: Arguments, _ console: Console) throws -> (Arguments, url: String) {
        var arguments = arguments
        if let server, (try? Origin(ofURL: server)) == nil {
            throw UsageError(
                "the server \"\(TerminalText.safe(server))\" in KUBERNETES_EXEC_INFO is not a URL such as https://HOST:6443; correct the "
                    + "cluster's server in the kubeconfig")
        }
        if server == nil, arguments.profile == nil {
            arguments = try ProfileSelection(arguments: arguments, console: console).mergedByDefault()
        }
        guard let url = server ?? arguments.profile?.baseURL else {
            throw UsageError(
                "credential kubectl-exec needs a --profile with a url, or provideClusterInfo: true in the kubeconfig, to find a profile "
                    + "by the cluster's server")
        }
        guard HelperProfile.hasPlainAuthority(url) else {
            throw UsageError(
                "the cluster's server has more than a host and a port in its authority, so its host is not clear; "
                    + "correct server in the kubeconfig")
        }
        if let chosen = try HelperProfile.arguments(arguments, for: url, console) { return (chosen, url) }
        let place = (try? Origin(ofURL: url).description) ?? "the cluster's server"
        guard let profile = arguments.profile else { throw UsageError("no profile is for \(place); add one with url = \(place)") }
        throw UsageError(
            "the profile \"\(TerminalText.safe(profile.name))\" is for \(profile.origins.first?.description ?? "no server"), and not for "
                + "\(place); to allow it, write \"origins = \(place)\" into the profile, or give --origin \(place)")
    }

    /// The response for a token.
    func response(token: String, expiry: String?) -> JSON {
        .object([
            ("apiVersion", .string(version)), ("kind", .string("ExecCredential")),
            (
                "status",
                .object([("token", .string(token))] + (expiry.map { [("expirationTimestamp", .string($0))] } ?? []))
            ),
        ])
    }
}

/// `credential kubectl-exec`
struct KubectlExec: CredentialWork {
    let request: ExecCredential
    let url: String

    func run(_ source: CredentialSource) async throws {
        let credential = try await source.credential(for: url)
        guard case .bearer(let token) = try credential.form() else {
            throw UnusableCredentialError("\(credential.writer) writes no bearer token, and Kubernetes accepts nothing else here")
        }
        try output(request.response(token: token, expiry: credential.expiryText).text)
    }
}
