import NevodHost
import NevodSupport

/// The part of a command line or a profile that causes an error.
enum ErrorSubject: Equatable {
    case flag(Flag.Name)
    /// A setting or a parameter by its name.
    case part(Flag.Name, String)

    /// Returns nil if the error doesn't name a part.
    init?(of error: any Error) {
        switch NetworkError.cause(of: error) {
        case let error as SubjectError: self = error.subject
        case let error as PluginError: self.init(of: error.reason)
        case is PresetError: self = .part(.set, SchemePreset.settingName)
        case let error as UsageError: self.init(message: error.description)
        case let error as SettingSourceError: self.init(message: error.description)
        default: self.init(exitCode: ExitCode.of(error))
        }
    }

    private init?(of reason: PluginError.Reason) {
        switch reason {
        case .unknownSetting(_, let name, _), .badSetting(_, let name, _): self = .part(.set, name)
        case .unknownParameter(_, let name, _), .badParameter(_, let name, _): self = .part(.param, name)
        case .unknownScheme: self = .flag(.scheme)
        case .notFound: self = .flag(.plugin)
        default: return nil
        }
    }

    /// Messages about a flag begin with its spelling.
    private init?(message: String) {
        let word = message.prefix { $0 != " " }
        guard let flag = Flag.all.first(where: { $0.isInProfiles && $0.spellings.contains(String(word)) }) else { return nil }
        self = .flag(flag.name)
    }

    private init?(exitCode: Int32) {
        switch exitCode {
        case 5: self = .flag(.proxy)
        case 58: self = .flag(.certificate)
        case 77: self = .flag(.caFile)
        case 90: self = .flag(.pinnedKey)
        default: return nil
        }
    }
}

/// Reports an error in reading a value, with the flag that needs the value.
struct SubjectError: Error, CustomStringConvertible {
    let subject: ErrorSubject
    let underlying: any Error

    var description: String { "\(underlying)" }

    /// Does some work, and adds the subject to its errors.
    static func adding<Result>(_ subject: ErrorSubject, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch let error as SubjectError { throw error } catch {
            throw SubjectError(subject: subject, underlying: error)
        }
    }
}

extension Arguments {
    /// Returns `PATH:LINE ([PROFILE]): ` if an error is about a line of the profile, and no typed flag replaces that line.
    /// Otherwise returns an empty text.
    func place(of error: any Error) -> String {
        guard let profile, let path = ConfigFile.defaultPath(), let subject = ErrorSubject(of: error) else { return "" }
        let isMeant = { (name: Flag.Name, value: String) in
            switch subject {
            case .flag(let meant): name == meant
            case .part(let meant, let part): name == meant && value.hasPrefix("\(part)=")
            }
        }
        guard !typed.contains(where: { isMeant($0.name, $0.value) }),
            let flag = profile.flags.last(where: { isMeant($0.name, $0.value) })
        else { return "" }
        return "\(path):\(flag.line) ([\(TerminalText.safe(profile.name))]): "
    }
}
