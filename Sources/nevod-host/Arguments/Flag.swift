/// A flag of the command line.
///
/// ``all`` is the only table of flags. Parsing, help, the manual page, completions, profiles and the checks of commands read it.
/// A new flag is a ``Name`` and one entry in a file of `Flags`.
struct Flag: Sendable {
    enum Name: Sendable, CaseIterable {
        case plugin, scheme, set, param, answer, profile, account, origin, profileURL, secretStore, profileName, yes
        case store, storeKey, noStore, newKey, replace
        case method, header, user, data, dataBinary, dataURLEncode, jsonData, get, form, uploadFile
        case dataRaw, dataASCII, urlQuery, formString, formEscape, userAgent, referer, cookie, cookieJar, junkSessionCookies
        case bearer, basic, digest, anyAuth, netrc, netrcFile, netrcOptional
        case globOff, pathAsIs, proto
        case location, maxRedirects, retry, compressed, maxTime, maxFileSize, connectTimeout
        case include, output, outputDirectory, fail, timing, verbose, silent
        case headOnly, dumpHeader, failWithBody, showError, noProgressMeter, progressBar, color, noPager
        case proxy, caFile, pinnedKey, certificate, key
        case language, flow, kit, only, skip, seed, fuzz, timeout, list, junit, curl, at, random, explain, nonce, keepSecrets,
            force
        case format, descriptor, environment, environmentHeader, username
        case json, debuggable, help, version
        case limitRate, retryDelay, retryMaxTime, retryConnectionRefused, retryAllErrors, writeOut
        case resolve, connectTo, unixSocket, abstractUnixSocket, noProxy, proxyUser, interface, localPort
        case http11, http2, http2PriorKnowledge, ipv4, ipv6, tls12, tls13, tlsMax, ciphers, tls13Ciphers
        case next, url, config, parallel, parallelMax, failEarly, asForm
        case remoteName, remoteNameAll, remoteHeaderName, createDirectories, continueAt, range, noBuffer, removeOnError
        case noClobber, remoteTime
    }

    let name: Name
    let long: String
    let short: Character?
    /// A second long name: curl's, if this program's is shorter.
    let alias: String?
    /// Nil for a flag without a value.
    let value: Value?
    let commands: CommandSet
    private let traits: Traits
    /// The words of `store` that take this flag; empty if all do.
    let storeWords: Set<String>
    let help: String

    init(
        _ name: Name, _ long: String, _ short: Character? = nil, value: Value? = nil, in commands: CommandSet,
        _ traits: Traits = [], storeWords: Set<String> = [], alias: String? = nil, help: String
    ) {
        self.name = name
        self.long = long
        self.short = short
        self.alias = alias
        self.value = value
        // `profile add` takes every flag that a profile may hold, except `--json DATA`: there, `--json` prints JSON.
        let isKept = !traits.contains(.notInProfile) && !commands.isDisjoint(with: Self.requests) && name != .jsonData
        self.commands = isKept ? commands.union([.profile]) : commands
        self.traits = traits
        self.storeWords = storeWords
        self.help = help
    }

    /// Each occurrence counts, not only the last.
    var isRepeatable: Bool { traits.contains(.repeatable) }
    /// Whether the value may be empty.
    var mayBeEmpty: Bool { traits.contains(.mayBeEmpty) }
    /// Whether the flag means nothing without `--plugin`.
    var needsPlugin: Bool { traits.contains(.needsPlugin) }
    /// Whether a `login` command must repeat this flag to log in to the same place as another command with it.
    var locatesLogin: Bool { traits.contains(.locatesLogin) }
    /// Whether the flag puts a credential on requests. In a profile, it is bound to the profile's origins.
    var isCredential: Bool { traits.contains(.credential) }
    /// Whether a profile may hold the flag. Profiles are for requests and signatures, and can't name other profiles.
    var isInProfiles: Bool { !traits.contains(.notInProfile) && !commands.isDisjoint(with: Self.requests) }

    /// The spellings with their dashes: the short one first, the preferred one last.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + (alias.map { ["--\($0)"] } ?? []) + ["--\(long)"] }

    /// Whether a word, given without dashes, is a long name of the flag.
    func isNamed(_ word: some StringProtocol) -> Bool { long == word || alias.map { $0 == word } == true }

    static func flags(of command: Command) -> [Flag] { all.filter { $0.commands.contains(command) } }

    static func takes(_ name: Name, _ command: Command) -> Bool {
        all.contains { $0.name == name && $0.commands.contains(command) }
    }

    static let all: [Flag] = FlagGroup.all.flatMap(\.flags)

    static let requests: CommandSet = [.request, .sign, .header]
    /// The commands that give a credential to another program without knowing its request.
    static let lending: CommandSet = [.run, .credential]
    static let authorizing = requests.union(lending).union([.login, .logout])
    static let storing = authorizing.union([.sessions, .store])
    static let sending: CommandSet = [.request]
    static let everywhere = CommandSet(Command.allCases)
}

extension Flag {
    struct Traits: OptionSet {
        let rawValue: Int

        static let repeatable = Traits(rawValue: 1 << 0)
        static let mayBeEmpty = Traits(rawValue: 1 << 1)
        static let needsPlugin = Traits(rawValue: 1 << 2)
        static let locatesLogin = Traits(rawValue: 1 << 3)
        static let notInProfile = Traits(rawValue: 1 << 4)
        static let credential = Traits(rawValue: 1 << 5)
    }
}

extension Flag.Name {
    /// The long spelling, for error texts.
    var spelling: String { Flag.all.first { $0.name == self }?.spellings.last ?? "" }
}

extension Flag {
    /// The value of a flag: its placeholder in the help, its kind for completions, and how it names standard input.
    struct Value: Sendable {
        let placeholder: String
        let kind: ValueKind
        let standardInput: StandardInput?

        private init(_ placeholder: String, _ kind: ValueKind, _ standardInput: StandardInput? = nil) {
            self.placeholder = placeholder
            self.kind = kind
            self.standardInput = standardInput
        }

        static func text(_ placeholder: String, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, .text, standardInput)
        }

        static func file(_ placeholder: String, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, .file, standardInput)
        }

        static func content(_ placeholder: String, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, .content, standardInput)
        }

        static func folder(_ placeholder: String) -> Value { Value(placeholder, .folder) }
        static func plugin(_ placeholder: String) -> Value { Value(placeholder, .plugin) }
        static func method(_ placeholder: String) -> Value { Value(placeholder, .method) }
        static func profile(_ placeholder: String) -> Value { Value(placeholder, .profile) }
        static func language(_ placeholder: String) -> Value { Value(placeholder, .language) }
        static func url(_ placeholder: String) -> Value { Value(placeholder, .url) }

        /// A value that shells can't complete without asking this program.
        static func asked(_ placeholder: String, _ kind: ValueKind, standardInput: StandardInput? = nil) -> Value {
            Value(placeholder, kind, standardInput)
        }
    }

    /// The kinds of values that shells complete.
    enum ValueKind: String, CaseIterable, Sendable {
        case file, folder, plugin, method, profile, language, url
        /// A text, or `@FILE`.
        case content
        /// Shells ask this program for these: see ``CompletionQuery``.
        case setting, parameter, scheme, account, format
        case text
    }

    /// The form in which a value names standard input.
    enum StandardInput: Sendable {
        /// `-`
        case whole
        /// `NAME=-`
        case assigned
        /// `@-`, `NAME@-`, `NAME=@-` or `NAME=<-`
        case reference

        func isNamed(by value: String) -> Bool {
            switch self {
            case .whole: value == "-"
            case .assigned: value.hasSuffix("=-")
            case .reference: value.hasSuffix("@-") || value.hasSuffix("<-")
            }
        }
    }
}

/// The flags of one topic: a list in `Flags`, and a section of the help and the manual page.
struct FlagGroup: Sendable {
    /// The name of the topic for `help`.
    let name: String
    let title: String
    let flags: [Flag]

    static let all = [
        FlagGroup(name: "authorization", title: "Authorization", flags: Flag.authorization),
        FlagGroup(name: "sessions", title: "Sessions", flags: Flag.sessions),
        FlagGroup(name: "shape", title: "Several requests, and flags from a file", flags: Flag.shape),
        FlagGroup(name: "request", title: "The request", flags: Flag.request),
        FlagGroup(name: "credentials", title: "Credentials without a plugin, and cookies", flags: Flag.credentials),
        FlagGroup(name: "transfer", title: "Redirects, retries and limits", flags: Flag.transfer),
        FlagGroup(name: "output", title: "Output", flags: Flag.output),
        FlagGroup(name: "files", title: "Files for response bodies", flags: Flag.files),
        FlagGroup(name: "connection", title: "Connection: proxy and TLS", flags: Flag.connection),
        FlagGroup(name: "pasted", title: "For pasted curl commands", flags: Flag.pasted),
        FlagGroup(name: "programs", title: "Credentials for other programs", flags: Flag.programs),
        FlagGroup(name: "authoring", title: "For authors of plugins", flags: Flag.authoring),
        FlagGroup(name: "general", title: "For all commands", flags: Flag.general),
    ]
}
