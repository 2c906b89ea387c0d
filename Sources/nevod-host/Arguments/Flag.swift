/// A flag of the command line.
///
/// ``all`` is the only table: parsing, help, manual page, completions, profiles and the checks of commands read it. A new flag is a
/// ``Name`` and one entry in a file of `Flags`.
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
    /// A second long name: curl's, where this program has a shorter one.
    let alias: String?
    /// Nil for a flag without a value.
    let value: Value?
    let commands: CommandSet
    private let traits: Traits
    /// The words of `store` that take this flag; empty where all of them do.
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
        // `profile add` takes what a profile may hold, apart from `--json DATA`: there `--json` prints JSON.
        let isKept = !traits.contains(.notInProfile) && !commands.isDisjoint(with: Self.requests) && name != .jsonData
        self.commands = isKept ? commands.union([.profile]) : commands
        self.traits = traits
        self.storeWords = storeWords
        self.help = help
    }

    /// Each occurrence counts, not only the last.
    var isRepeatable: Bool { traits.contains(.repeatable) }
    /// Whether the value may be the empty text.
    var mayBeEmpty: Bool { traits.contains(.mayBeEmpty) }
    /// Whether the flag means nothing without `--plugin`.
    var needsPlugin: Bool { traits.contains(.needsPlugin) }
    /// Whether a `login` command needs this flag to log in to the same place.
    var locatesLogin: Bool { traits.contains(.locatesLogin) }
    /// Whether the flag puts a credential on requests. A profile's is bound to the profile's origins.
    var isCredential: Bool { traits.contains(.credential) }
    /// Whether a profile may hold the flag. Profiles serve requests and signatures, and do not name other profiles.
    var isInProfiles: Bool { !traits.contains(.notInProfile) && !commands.isDisjoint(with: Self.requests) }

    /// With dashes, the short one first, and the usual one last.
    var spellings: [String] { (short.map { ["-\($0)"] } ?? []) + (alias.map { ["--\($0)"] } ?? []) + ["--\(long)"] }

    /// Whether a word without its dashes is the flag's long name.
    func isNamed(_ word: some StringProtocol) -> Bool { long == word || alias.map { $0 == word } == true }

    static func flags(of command: Command) -> [Flag] { all.filter { $0.commands.contains(command) } }

    static func takes(_ name: Name, _ command: Command) -> Bool {
        all.contains { $0.name == name && $0.commands.contains(command) }
    }

    static let all: [Flag] = FlagGroup.all.flatMap(\.flags)

    static let requests: CommandSet = [.request, .sign, .header]
    /// Those that give a credential to another program, for a request that isn't described.
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
