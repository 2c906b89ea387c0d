import Glibc
import NevodHost

/// The line that reports an error: its own text, and what the command line adds, such as the flag that is the way out.
struct ErrorText {
    /// Nil if the command line could not be parsed.
    let arguments: Arguments?

    func text(of error: any Error) -> String {
        if let transport = TransportError.cause(of: error) {
            return certificateProblem(transport) ?? "\(error)\(hint(for: transport))"
        }
        return "\(error)\(hint(for: error))"
    }

    private func hint(for error: any Error) -> String {
        switch error {
        case let error as PluginError: hint(for: error)
        case let error as PresetError: hint(for: error)
        case let error as InvalidRequestError: hint(for: error)
        case let error as OutputError: hint(for: error)
        case is StorageError where arguments.map { Flag.flags(of: $0.command).contains { $0.name == .noStore } } == true:
            "; or log in for this command only, with --no-store"
        default: ""
        }
    }

    private func hint(for error: PluginError) -> String {
        switch error.reason {
        case .notFound: PluginSuggestion.hint(for: error)
        case .unknownSetting(_, let name, let valid): Suggestions.hint(for: name, among: valid)
        case .unknownScheme(let id, let offered): Suggestions.hint(for: id, among: offered)
        case .schemeNotChosen: ", with --scheme ID"
        case .flowFault: "; -v shows what it sends"
        case .failed(_, "the login flow", PluginStatus.denied.rawValue, _, _, _): "; check the answers and the settings"
        default: ""
        }
    }

    private func hint(for error: PresetError) -> String {
        switch error.reason {
        case .unknown(_, let known): unknownPreset(error.preset, known)
        case .missingValues(let missing): "; write " + missing.map { "--set \($0.name)=VALUE" }.joined(separator: " ")
        default: ""
        }
    }

    private func unknownPreset(_ name: String, _ known: [String]) -> String {
        let near = Suggestions.hint(for: name, among: known)
        return near.isEmpty && known.count > PresetError.mostListed ? "; nevod-host help presets lists them" : near
    }

    private func hint(for error: OutputError) -> String {
        switch error.errorNumber {
        case EISDIR: "; name a file in it"
        case ENOENT, ENOTDIR: "; create its folder first"
        case ENOSPC: "; free some space, or choose another place"
        default: ""
        }
    }

    /// Names where a flag's value comes from, for a person who did not type it.
    func source(of name: Flag.Name) -> String {
        guard let arguments, !arguments.typed.contains(where: { $0.name == name }), let profile = arguments.profile?.name else {
            return name.spelling
        }
        return "\(name.spelling.dropFirst(2)) in the profile \"\(profile)\""
    }
}
