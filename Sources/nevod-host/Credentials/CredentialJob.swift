import NevodHost

/// A request of another program for a credential, read from its protocol, and the profile that it is about.
struct CredentialJob: Sendable {
    /// With the profile's flags.
    let arguments: Arguments
    private let console: Console
    private let work: any CredentialWork

    /// Reads what the program sent. Nil if there is nothing to do or to say: no profile is for that server, and the program asks its
    /// other helpers.
    init?(_ arguments: Arguments, _ console: Console) throws {
        let operands = arguments.operands
        guard let helper = operands.first.flatMap(CredentialHelper.init(rawValue:)) else {
            throw UsageError("credential needs one of \(CredentialHelper.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        // Before anything is read, and below for the profile's flags.
        if helper.readsInput { try arguments.checkThatInputIsFree() }
        self.console = console
        switch (helper, operands.count) {
        case (.git, 2):
            // Git may get more operations, which helpers ignore (gitcredentials(7)).
            guard ["get", "erase"].contains(operands[1]) else { return nil }
            let request = try GitCredential(FileDescriptor.standardInput.readAll(limit: GitCredential.largest))
            guard let url = request.url, let chosen = try HelperProfile.arguments(arguments, for: url, console) else {
                return nil
            }
            self.arguments = chosen
            work = operands[1] == "get" ? GitGet(request: request, url: url) : GitErase(request: request, url: url)
        case (.docker, 2):
            guard let made = try DockerWork(operands[1], arguments, console) else { return nil }
            (self.arguments, work) = (made.arguments, made.work)
        case (.kubectl, 1):
            let request = try ExecCredential(environment("KUBERNETES_EXEC_INFO"))
            if !request.isInteractive { Terminal.forbid() }
            let (chosen, url) = try request.profile(arguments, console)
            self.arguments = chosen
            work = KubectlExec(request: request, url: url)
        case (.netrc, 1):
            let arguments =
                try arguments.profile == nil
                ? ProfileSelection(arguments: arguments, console: console).mergedByDefault() : arguments
            guard let url = arguments.profile?.baseURL else {
                throw UsageError("credential netrc needs a --profile with a url, which names the machine")
            }
            let output = try CredentialOutput(arguments, isForPrograms: true)
            self.arguments = arguments
            work = NetrcEntry(url: url, output: output)
        default:
            throw UsageError(
                helper.operations.isEmpty
                    ? "credential \(helper.rawValue) takes no operand"
                    : "credential \(helper.rawValue) needs one of \(helper.operations.joined(separator: ", "))")
        }
        if helper.readsInput { try self.arguments.checkThatInputIsFree() }
    }

    func run(on session: CurlSession) async throws {
        try await work.run(CredentialSource(arguments: arguments, console: console, session: session))
    }
}

/// The request of another program for a credential.
protocol CredentialWork: Sendable {
    func run(_ source: CredentialSource) async throws
}

extension CredentialSource {
    /// Returns what authorizes requests to a URL.
    func credential(for url: String) async throws -> IssuedCredential {
        try await credential(for: try HTTPRequest(.get, url), isReusable: true)
    }

    /// The name beside a token that a program sends as a password.
    var username: String { arguments.value(.username) ?? HeaderCommand.username }
}

extension Arguments {
    /// Refuses flags that would read what another program sends.
    fileprivate func checkThatInputIsFree() throws(UsageError) {
        for given in flags {
            guard let flag = Flag.all.first(where: { $0.name == given.name }),
                flag.value?.standardInput?.isNamed(by: given.value) == true
            else { continue }
            throw UsageError("--\(flag.long) can't read standard input here, where the other program writes; give env: or file:")
        }
    }
}
