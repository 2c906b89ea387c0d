import Glibc
import NevodHost

/// `run`: replaces this process with a program that has a token in its environment.
struct RunCommand {
    let arguments: Arguments
    let console: Console
    let session: CurlSession

    func run() async throws {
        guard let program = arguments.operands.first else {
            throw UsageError("run needs a command: nevod-host run --profile PROFILE -- COMMAND [ARGUMENT]…")
        }
        let variables = [arguments.value(.environment), arguments.value(.environmentHeader)].compactMap { $0 }
        for name in variables where name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) {
            throw UsageError("\"\(name)\" is not the name of a variable")
        }
        let credential = try await CredentialSource(arguments: arguments, console: console, session: session)
            .credential(for: try HTTPRequest(.get, try url()), isReusable: true)
        if let name = arguments.value(.environmentHeader) {
            _ = try credential.form()
            setenv(name, credential.lines.map { "\($0.name): \($0.value)" }.joined(), 1)
        }
        if let name = arguments.value(.environment) ?? (arguments.has(.environmentHeader) ? nil : "NEVOD_TOKEN") {
            setenv(name, try token(of: credential), 1)
        }
        InheritedState.captured?.restore()
        throw ExecutionError(program, Self.execute(arguments.operands))
    }

    private func token(of credential: IssuedCredential) throws -> String {
        do { return try credential.token() } catch let error as UnusableCredentialError where !credential.isInURL {
            throw UnusableCredentialError("\(error); run --env-header NAME gives the whole line")
        }
    }

    /// The URL to authorize, from `--origin` or the profile, for schemes that distinguish servers. No request is sent there.
    private func url() throws -> String {
        try CredentialScope(arguments).added().first?.description ?? arguments.profile?.baseURL ?? "https://localhost/"
    }

    /// Replaces this process. Returns the error if that fails.
    private static func execute(_ words: [String]) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        guard let program = pointers.first ?? nil else { return ENOMEM }
        execvp(program, &pointers)
        return errno
    }
}

/// Reports a program that can't be executed.
struct ExecutionError: Error, CustomStringConvertible {
    let program: String
    let errorNumber: Int32

    init(_ program: String, _ errorNumber: Int32) {
        self.program = program
        self.errorNumber = errorNumber
    }

    var description: String {
        let problem = errorNumber == ENOENT ? "there is no such command" : String(cString: strerror(errorNumber))
        return "can't run \(program): \(problem)"
    }
}
