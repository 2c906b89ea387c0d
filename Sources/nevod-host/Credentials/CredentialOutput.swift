import Glibc

/// Writes a credential to standard output, or to the descriptor of `--fd`.
struct CredentialOutput: Sendable {
    private let descriptor: FileDescriptor

    /// - Throws: ``UsageError`` if the descriptor can't be written to, or if a text that only programs read would go to a terminal.
    init(_ arguments: Arguments, isForPrograms: Bool = false) throws(UsageError) {
        if let text = arguments.value(.descriptor) {
            guard let number = Int32(text), number > 0, OwnDescriptor.isWritable(number) else {
                throw UsageError(
                    "--fd \(text) is not a descriptor that this command was given to write to; open one, such as \(text)>FILE in a shell"
                )
            }
            descriptor = FileDescriptor(number: number, name: "descriptor \(number)")
        } else {
            descriptor = .standardOutput
        }
        guard !isForPrograms || isatty(descriptor.number) == 0 else {
            throw UsageError("this is for a program to read, and would show a secret on the terminal; redirect it, or give --fd")
        }
    }

    func write(_ text: String) throws(OutputError) {
        let bytes = isatty(descriptor.number) == 1 ? TerminalFilter.safe(text) : Array(text.utf8)
        try descriptor.write(bytes.span)
    }
}
