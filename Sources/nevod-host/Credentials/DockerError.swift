import NevodHost

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

    /// The text that docker knows, and takes for no error.
    static let notFound = DockerError("credentials not found in native keychain")

    /// Whether only the program is to know.
    var isExpected: Bool { description == Self.notFound.description }

    static func reporting<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw DockerError(error) }
    }
}
