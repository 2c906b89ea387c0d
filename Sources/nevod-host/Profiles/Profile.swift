import NevodHost
import NevodSupport

/// A section of the config file.
struct Profile: Sendable {
    let name: String
    /// The config file.
    var path = ""
    /// The line of the section's name, from 1.
    var line = 0
    /// Whether other users can read the file.
    var isReadableByOthers = false
    /// The flags in order. They come before the command line's flags, so that the latter win.
    var flags: [ProfileFlag] = []
    /// The profile's flags that the command itself doesn't take. A login sends their header lines.
    var otherFlags: [ProfileFlag] = []
    /// The URL, without a fragment, to which a relative operand is appended.
    var baseURL: String?
    /// The line of ``baseURL``.
    var baseLine = 0
    /// The origins that may get its credentials: the origin of ``baseURL`` first, then the profile's `origins`.
    var origins: [Origin] = []

    /// Returns the flags that the command takes.
    func flags(for command: Command) -> [ProfileFlag] {
        flags.filter { given in
            Flag.flags(of: command).contains { $0.name == given.name }
        }
    }

    /// Returns the long name of the first flag that puts a credential on the command's requests; nil without such a flag.
    ///
    /// - Parameter undone: the flags that the command line takes back.
    func credential(for command: Command, without undone: Set<Flag.Name> = []) -> String? {
        flags(for: command).lazy.filter { !undone.contains($0.name) }.compactMap { given in
            Flag.all.first {
                $0.name == given.name && $0.isCredential && Self.mayHoldSecret(given)
            }
        }.first?.long
    }

    private static func mayHoldSecret(_ given: ProfileFlag) -> Bool {
        switch given.name {
        case .header: RequestBuilder.mayHoldSecret(given.value)
        // A part of the query counts if it reads a file: @FILE or NAME@FILE.
        case .urlQuery:
            given.value.utf8.first { "=@".utf8.contains($0) } == UInt8(ascii: "@") && given.value.utf8.first != UInt8(ascii: "+")
        default: true
        }
    }
}

extension Profile {
    /// The plugin's name or path in the profile; nil without a plugin.
    var plugin: String? { flags.last { $0.name == .plugin }?.value }
}

enum ProfileName {
    /// Refuses a name that a config file can't hold, and `none`, which means no profile.
    static func check(_ name: String) throws(UsageError) {
        let isPlain = name.utf8.allSatisfy { !$0.isControl && $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "]") }
        guard !name.isEmpty, name.utf8.count <= 64, isPlain, name.first != " ", name.last != " ", name.first != "-",
            name != ProfileSelection.none
        else {
            throw UsageError(
                "\"\(TerminalText.safe(name))\" can't be a profile's name: write up to 64 bytes without [ ] and control characters, "
                    + "not \"none\", with no dash at the start and no space at the start or end")
        }
    }
}

/// A flag of a profile, with its place in the config file.
struct ProfileFlag: Sendable {
    let name: Flag.Name
    let value: String
    /// The line's number from 1.
    let line: Int

    init(_ name: Flag.Name, _ value: String, line: Int) {
        self.name = name
        self.value = value
        self.line = line
    }
}
