/// The facts that a value shows, and the facts that its signatures cover.
struct Dependence {
    var plain: Sources = []
    /// The facts that each signature covers, and its keys.
    private(set) var signatures: [Sources] = []

    /// The facts that a value depends on.
    struct Sources: OptionSet {
        let rawValue: UInt16

        static let request = Sources(rawValue: 1 << 0)
        static let time = Sources(rawValue: 1 << 1)
        static let nonce = Sources(rawValue: 1 << 2)
        /// A secret, or a constant that is computed from one, which is as good as the secret.
        static let secret = Sources(rawValue: 1 << 3)
        /// Bytes that may be control characters, because they were decoded.
        static let decoded = Sources(rawValue: 1 << 4)

        /// A setting's value, unhashed.
        static func clear(_ setting: Recipe.SettingName) -> Sources { Sources(rawValue: 1 << (6 + index(setting))) }
        /// A setting, possibly hashed. The value can't be made without such a setting.
        static func key(_ setting: Recipe.SettingName) -> Sources { Sources(rawValue: 1 << (10 + index(setting))) }

        private static func index(_ setting: Recipe.SettingName) -> UInt16 {
            switch setting {
            case .key, .secret: 0
            case .passphrase: 1
            case .token: 2
            case .memo: 3
            }
        }

        /// A key that was derived.
        static let derivedKey = Sources(rawValue: 1 << 14)

        /// The facts that differ between two requests.
        static let varying: Sources = [.request, .time, .nonce]
        static let clears = Sources(rawValue: 0b1111 << 6)
        static let keys = Sources(rawValue: 0b1111 << 10)

        /// The keys of the settings that these facts show unhashed.
        var exposedKeys: Sources { Sources(rawValue: rawValue << 4).intersection(.keys) }
    }

    init() {}

    init(plain: Sources) {
        self.plain = plain
    }

    init(_ setting: Recipe.SettingName) {
        if setting.isSecret { plain = [.secret, .clear(setting), .key(setting)] }
    }

    mutating func formUnion(_ other: Dependence) {
        plain.formUnion(other.plain)
        for signature in other.signatures where !signatures.contains(signature) { signatures.append(signature) }
    }

    /// Facts covered by a signature with at least one key that isn't exposed.
    func signed(without exposed: Sources) -> Sources {
        signatures.filter { !$0.intersection(.keys).subtracting(exposed).isEmpty }.reduce([]) { $0.union($1) }
    }

    /// Replaces the value with its hash, or with its HMAC if there is a key.
    mutating func hash(by key: Dependence? = nil) {
        if let key { formUnion(key) }
        plain.subtract(Sources.clears.union([.decoded, .derivedKey]))
        guard plain.contains(.secret) || !(key?.signatures.isEmpty ?? true) else { return }
        // A value that depends on nothing else is a password, however it was computed.
        let covered = signatures.reduce(plain) { $0.union($1) }
        guard !covered.isDisjoint(with: .varying) else { return }
        signatures = [covered.subtracting(.secret)]
        plain = []
    }
}
