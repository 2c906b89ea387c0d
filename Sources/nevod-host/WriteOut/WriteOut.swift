import Glibc
import NevodHost
import NevodSupport

/// Prints what `--write-out` asks for after a transfer, also after a failed one.
struct WriteOut {
    private let format: WriteOutFormat

    /// Standard input can be read once, but a format is for each URL.
    private static let fromStandardInput = Locked<[UInt8]?>(nil)

    /// - Returns: nil without `--write-out`.
    init?(_ arguments: Arguments) throws {
        guard let text = arguments.value(.writeOut) else { return nil }
        format = WriteOutFormat(try Self.content(of: text))
    }

    private static func content(of text: String) throws -> [UInt8] {
        guard text.hasPrefix("@") else { return Array(text.utf8) }
        let file = String(text.dropFirst())
        let bytes =
            file == "-"
            ? try fromStandardInput.withLock { known in
                let bytes = try known ?? readFile("-", limit: InputLimit.setting)
                known = bytes
                return bytes
            } : try readFile(file, limit: InputLimit.setting)
        // As curl does: a line break is written as \n.
        return bytes.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    }

    func write(_ values: WriteOutValues) throws(OutputError) {
        var output = FileDescriptor.standardOutput
        var opened: Int32?
        defer { if let opened { close(opened) } }
        for piece in format.pieces {
            switch piece {
            case .text(let bytes): try output.write(bytes.span)
            case .variable(let variable):
                try write(values[variable.name].text(inMicroseconds: variable.isInMicroseconds), to: output)
            case .header(let name): try write(values.header(String(decoding: name, as: UTF8.self)) ?? "", to: output)
            case .json: try write(values.json, to: output)
            case .headerJSON: try write(values.headerJSON, to: output, hasLines: true)
            case .unknown(let name):
                let name = String(decoding: name, as: UTF8.self)
                // As with curl, -s doesn't hide a mistake in the format.
                Console(isSilent: false, verbosity: .none).error(
                    "unknown --write-out variable: '\(name)'\(Suggestions.hint(for: name, among: WriteOutVariable.spellings))")
            case .onError: if values.failure == nil { return }
            case .standardOutput: output = .standardOutput
            case .standardError: output = FileDescriptor(number: STDERR_FILENO, name: "standard error")
            case .file(let name, let appends):
                let file = try Self.open(String(decoding: name, as: UTF8.self), appends: appends)
                if let opened { close(opened) }
                opened = file.number
                output = file
            }
        }
    }

    /// Writes a value, which a server may have chosen, safe for a terminal.
    private func write(_ value: String, to output: FileDescriptor, hasLines: Bool = false) throws(OutputError) {
        guard isatty(output.number) == 1 else { return try output.write(Array(value.utf8).span) }
        let shown = hasLines ? TerminalFilter.safe(value) : Array(TerminalText.safe(value).utf8)
        try output.write(shown.span)
    }

    private static func open(_ path: String, appends: Bool) throws(OutputError) -> FileDescriptor {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (appends ? O_APPEND : O_TRUNC)
        let number = Activity.during("opening \(path)") { Glibc.open(path, flags, 0o666) }
        guard number >= 0 else { throw OutputError(path, errno) }
        return FileDescriptor(number: number, name: path)
    }
}
