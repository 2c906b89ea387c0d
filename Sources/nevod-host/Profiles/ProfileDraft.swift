import NevodHost
import NevodSupport

/// A profile that `profile add` is about to write.
struct ProfileDraft {
    let name: String
    var url: String?
    var flags: [ProfileFlag] = []
    /// The secrets to keep. Their sources may change when the profile is written: see ``keepSecrets(in:beside:onCreated:)``.
    private(set) var secrets: [KeptSecret] = []

    init(_ name: String) {
        self.name = name
    }

    func values(_ name: Flag.Name) -> [String] { flags.filter { $0.name == name }.map(\.value) }

    /// The names of the settings.
    var settings: Set<String> { Set(values(.set).map { String($0.prefix { $0 != "=" }) }) }

    mutating func add(_ name: Flag.Name, _ value: String) { flags.append(ProfileFlag(name, value, line: 0)) }

    /// Adds a setting whose secret is to be kept in a place.
    mutating func add(_ setting: String, _ secret: Secret, in place: SecretPlace) {
        let taken = Set(flags.compactMap { $0.source.map(String.init) })
        var number = 1
        while taken.contains(place.source(name, setting, number: number)) { number += 1 }
        let source = place.source(name, setting, number: number)
        secrets.append(KeptSecret(setting: setting, source: source, place: place, value: secret))
        add(.set, "\(setting)=\(source)")
    }

    /// Writes each secret to a free place that no profile names, and makes the settings name that place.
    ///
    /// Call with the config file locked.
    ///
    /// - Parameters:
    ///   - folder: the config file's folder.
    ///   - others: the file's profiles.
    ///   - onCreated: called after each secret is written, even if a later one fails.
    mutating func keepSecrets(in folder: String, beside others: [Profile], onCreated: (KeptSecret) -> Void) throws {
        let identity = { SecretPlace.identity(of: $0, configFolder: folder) }
        for index in secrets.indices {
            let secret = secrets[index]
            let given = others.flatMap(\.flags) + flags.filter { $0.value != secret.flagValue }
            let taken = Set(given.compactMap { $0.source.map { identity(String($0)) } })
            var number = 1
            while true {
                let source = secret.place.source(name, secret.setting, number: number)
                if !taken.contains(identity(source)), try secret.place.create(secret.value, source, configFolder: folder) {
                    move(index, to: source)
                    break
                }
                guard number < Self.mostSecrets else {
                    throw UsageError(
                        "there are already \(number) secrets named \(secret.place.source(name, secret.setting, number: 1)); "
                            + "choose another name for the profile, or remove what no profile uses")
                }
                number += 1
            }
            onCreated(secrets[index])
        }
    }

    /// The maximum number of secrets with the same name. They are looked up one after another.
    private static let mostSecrets = 1000

    private mutating func move(_ index: Int, to source: String) {
        let old = secrets[index].flagValue
        secrets[index].source = source
        guard let flag = flags.firstIndex(where: { $0.name == .set && $0.value == old }) else { return }
        flags[flag] = ProfileFlag(.set, secrets[index].flagValue, line: 0)
    }

    mutating func removeSetting(_ setting: String) {
        for value in values(.set) where value.hasPrefix("\(setting)=") {
            secrets.removeAll { $0.flagValue == value }
        }
        flags.removeAll { $0.name == .set && $0.value.hasPrefix("\(setting)=") }
    }

    /// Returns the lines of the section, without its first line.
    func lines() throws(UsageError) -> [String] {
        var lines = try url.map { (url) throws(UsageError) in ["url = \(try Self.checked(url, "--url"))"] } ?? []
        for flag in flags {
            guard let known = Flag.all.first(where: { $0.name == flag.name }) else { continue }
            lines.append(known.value == nil ? known.long : "\(known.long) = \(try Self.checked(flag.value, "--\(known.long)"))")
        }
        return lines
    }

    /// Refuses a value that a line can't hold: it would be read back differently, or as several lines.
    private static func checked(_ value: String, _ flag: String) throws(UsageError) -> String {
        guard value.utf8.allSatisfy(\.isFieldByte), value.utf8.trimmedOfBlanks.count == value.utf8.count else {
            throw UsageError(
                "\(flag) has a line break, another control character, or a space at its start or end, which a config file can't hold; "
                    + "keep such a value in a file")
        }
        return value
    }
}
