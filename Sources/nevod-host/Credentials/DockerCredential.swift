import NevodHost

/// `credential docker`: the protocol of docker-credential-helpers. Errors also go to standard output, where docker reads them.
struct DockerWork {
    let arguments: Arguments
    let work: any CredentialWork

    /// Reads docker's request.
    ///
    /// - Throws: ``DockerError``.
    init(_ operation: String, _ arguments: Arguments, _ console: Console) throws {
        switch operation {
        case "get":
            let server = try Self.server()
            var found: (arguments: Arguments, url: String)?
            for url in Self.urls(of: server) where found == nil {
                found = try DockerError.reporting { try HelperProfile.arguments(arguments, for: url, console) }.map { ($0, url) }
            }
            guard let found else { throw DockerError.notFound }
            self.arguments = found.arguments
            work = DockerGet(server: server, url: found.url)
        case "list":
            self.arguments = arguments
            work = DockerList()
        case "store":
            _ = try FileDescriptor.standardInput.readAll(limit: Self.largest)
            throw DockerError(
                "no password is stored: the credential comes from a profile; log in with nevod-host login --profile NAME"
            )
        case "erase":
            _ = try Self.server()
            throw DockerError(
                "no password is stored, so there is none to erase; end a session with nevod-host logout --profile NAME"
            )
        default: throw UsageError("credential docker needs one of \(CredentialHelper.docker.operations.joined(separator: ", "))")
        }
    }

    /// The largest input, in bytes.
    private static let largest = 64 << 10

    /// The server's URL, or its host, as docker sends it: with or without a line break.
    private static func server() throws -> String {
        let bytes = try FileDescriptor.standardInput.readAll(limit: largest)
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        guard let text = String(validating: line, as: UTF8.self), !text.isEmpty else {
            throw DockerError("no credentials server URL")
        }
        return text
    }

    /// Returns the URLs to try: a registry may be given without a scheme, and docker prefers https.
    static func urls(of server: String) -> [String] {
        server.contains("://") ? [server] : ["https://\(server)", "http://\(server)"]
    }
}

/// `credential docker get`
struct DockerGet: CredentialWork {
    let server: String
    let url: String

    func run(_ source: CredentialSource) async throws {
        let credential: IssuedCredential
        let parts: (user: String, password: String)
        do {
            credential = try await source.credential(for: url)
            parts = try credential.userAndPassword(user: source.username)
        } catch {
            throw DockerError(error)
        }
        try output(
            JSON.object([
                ("ServerURL", .string(server)), ("Username", .string(parts.user)), ("Secret", .string(parts.password)),
            ]).text)
    }
}

/// `credential docker list`: prints the servers of the profiles that have a session. Docker then asks for each of them, and any
/// other server would be an error.
struct DockerList: CredentialWork {
    func run(_ source: CredentialSource) async throws {
        do {
            // A list must not ask for a passphrase.
            Terminal.forbid()
            let profiles = try source.arguments.profile.map { [$0] } ?? HelperProfile.profiles()
            let answers = try CommandLineAnswers(source.arguments, console: source.console)
            let store = try SessionStore(source.arguments, answers, source.console)
            var names: Set<String> = []
            if let storage = try await store.openIfExists() {
                names = Set(try await storage.keys(withPrefix: SessionName.start).compactMap { SessionName($0)?.profile })
            }
            let servers = profiles.filter { names.contains($0.name) }.flatMap(\.origins).map(\.description)
            try output(JSON.object(Set(servers).sorted().map { ($0, .string(source.username)) }).text)
        } catch {
            throw DockerError(error)
        }
    }
}

/// An error that docker reads on standard output, and a person on standard error.
struct DockerError: Error, CustomStringConvertible {
    let description: String
    let exitCode: Int32

    init(_ description: String, _ exitCode: Int32 = ExitCode.other) {
        self.description = description
        self.exitCode = exitCode
    }

    init(_ error: any Error) {
        self = error as? DockerError ?? DockerError("\(error)", ExitCode.of(error))
    }

    /// The text by which docker knows that there is no credential, which isn't an error.
    static let notFound = DockerError("credentials not found in native keychain")

    /// Whether only docker needs to see the text.
    var isExpected: Bool { description == Self.notFound.description }

    static func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw DockerError(error) }
    }
}
