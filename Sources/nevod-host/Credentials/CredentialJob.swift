import NevodHost
import NevodSupport

/// Another program's request for a credential, in that program's protocol, and the profile to serve it with.
struct CredentialJob: Sendable {
    /// The arguments, with the profile's flags.
    let arguments: Arguments
    private let console: Console
    private let work: any CredentialWork

    /// Reads the other program's request. Nil if there is nothing to do: no profile is for the server, and the program asks its
    /// other helpers.
    init?(_ arguments: Arguments, _ console: Console) throws {
        let operands = arguments.operands
        guard let helper = operands.first.flatMap(CredentialHelper.init(rawValue:)) else {
            throw UsageError("credential needs one of \(CredentialHelper.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        // Checks before anything is read, and again below with the profile's flags.
        if helper.readsInput { try arguments.checkThatInputIsFree() }
        self.console = console
        switch (helper, operands.count) {
        case (.git, 2):
            // Helpers ignore operations that later versions of git add (gitcredentials(7)).
            guard ["get", "erase"].contains(operands[1]) else { return nil }
            let request = try GitCredential(FileDescriptor.standardInput.readAll(limit: GitCredential.largest))
            guard let url = request.url, let chosen = try HelperProfile.arguments(arguments, for: url, console) else {
                return nil
            }
            self.arguments = chosen
            work = operands[1] == "get" ? GitGet(request: request, url: url) : GitErase(request: request, url: url)
        case (.docker, 2):
            let docker = try DockerWork(operands[1], arguments, console)
            (self.arguments, work) = (docker.arguments, docker.work)
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

/// Another program's request for a credential.
protocol CredentialWork: Sendable {
    func run(_ source: CredentialSource) async throws
}

extension Arguments {
    /// Refuses flags that would read the other program's request.
    fileprivate func checkThatInputIsFree() throws(UsageError) {
        for given in flags {
            guard let flag = Flag.all.first(where: { $0.name == given.name }),
                flag.value?.standardInput?.isNamed(by: given.value) == true
            else { continue }
            throw UsageError(
                "--\(flag.long) can't read standard input here, because the other program writes to it; give env: or file:")
        }
    }
}

/// The programs with a protocol that `credential` speaks.
enum CredentialHelper: String, CaseIterable {
    case git, docker
    case kubectl = "kubectl-exec"
    case netrc

    /// The words that may follow the program's name.
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
