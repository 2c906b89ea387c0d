internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// A recipe with its keys, prepared for requests.
final class Signer: Sendable {
    let needs: Needs
    /// Whether the recipe sends only Proxy-Authorization, so that it can authorize a proxy.
    let fitsProxies: Bool

    let recipe: Recipe
    let program: Program
    let settings: SettingTexts
    let keys: [HMACKey]
    /// A nonce that the user set, to compare with an example.
    let fixedNonce: [UInt8]?
    /// For each step, the name that it sends. Each is a separate array, as the host's functions need. Empty for steps that send
    /// nothing.
    let names: [[UInt8]]
    private let explanation: Explanation?
    /// Nil unless the message is the default.
    private let warning: UnsignedQueryWarning?

    /// The bytes on the stack for a request's values, and for intermediate values. Longer values need an allocation.
    private static let (capacity, scratch) = (512, 96)

    convenience init(_ scheme: HMACAuth) throws(SchemeError) {
        let settings = SettingTexts(
            key: Array(scheme.apiKey.utf8), secret: try scheme.secretEncoding.decode(scheme.secret),
            passphrase: scheme.passphrase, token: scheme.token, memo: scheme.memo)
        var reader = RecipeReader(isGiven: settings.isGiven)
        do throws(RecipeError) {
            let text = Array(scheme.recipe.map { Array($0.utf8) }.joined(separator: [UInt8(ascii: "\n")]))
            guard text.count <= RecipeReader.largest else {
                throw RecipeError(place: Recipe.Place(line: 1, column: 1), problem: "the recipe is larger than 32 KiB")
            }
            try reader.read(text)
            guard !reader.isEmpty || text.isEmpty else {
                throw RecipeError(
                    place: Recipe.Place(line: 1, column: 1), problem: "the recipe has no statement; write one, or leave it out")
            }
            try reader.checkUses()
        } catch {
            throw error.schemeError("recipe")
        }
        let isShort = !reader.hasStatements
        if !isShort { try ShortForm.refuse(scheme) }
        var recipe = isShort ? try ShortForm.recipe(scheme, reader) : reader.recipe
        do throws(RecipeError) { try RecipeChecks.check(&recipe) } catch {
            throw isShort ? .badSetting("message", "is refused: \(error.problem)") : error.schemeError("recipe")
        }
        recipe.optimize(keepsAll: scheme.explain)
        var keys: [HMACKey] = []
        try Self.prepareKeys(&recipe, settings, &keys)
        let isDefault = isShort && scheme.message.utf8.elementsEqual(ShortForm.defaultMessage.utf8)
        self.init(scheme, recipe, settings, keys, isDefault)
    }

    // Doesn't throw, because Embedded Swift does not free an object whose initialiser throws.
    private init(_ scheme: HMACAuth, _ recipe: Recipe, _ settings: SettingTexts, _ keys: [HMACKey], _ isDefault: Bool) {
        self.recipe = recipe
        program = Program(recipe)
        self.settings = settings
        self.keys = keys
        fixedNonce = scheme.nonce.isEmpty ? nil : Array(scheme.nonce.utf8)
        explanation = scheme.explain ? Explanation(scheme.log) : nil
        warning = isDefault ? UnsignedQueryWarning(scheme.log) : nil
        needs = recipe.needs
        names = recipe.steps.map { step in
            if case .send(_, let name, _) = step.action { Array(recipe.bytes[name]) } else { [] }
        }
        fitsProxies = recipe.steps.allSatisfy { step in
            guard case .send(let output, let name, _) = step.action else { return true }
            return output == .header
                && "proxy-authorization".utf8.elementsEqual(recipe.bytes[name].lazy.map { $0.lowercased })
        }
    }

    deinit {
        program.deallocate()
    }

    /// Sets up each key that is a setting once for all requests.
    private static func prepareKeys(
        _ recipe: inout Recipe, _ settings: SettingTexts, _ keys: inout [HMACKey]
    ) throws(SchemeError) {
        for index in recipe.filters.indices {
            guard case .hmac(let function, .setting(let setting)) = recipe.filters[index] else { continue }
            let secret = settings[setting] ?? Secret(copying: settings.key)
            keys.append(try HMACKey(secret, function))
            recipe.filters[index] = .hmac(function, .prepared(keys.count - 1))
        }
    }

    func sign(_ request: borrowing RequestView, _ edits: Edits) throws(SchemeError) {
        warning?.look(at: request)
        try withUnsafeTemporaryAllocation(of: Range<Int>.self, capacity: max(recipe.slots.count, 1)) {
            values throws(SchemeError) in
            values.initialize(repeating: 0..<0)
            try withByteWriter(capacity: Self.capacity) { text throws(SchemeError) in
                try withByteWriter(capacity: Self.scratch) { first throws(SchemeError) in
                    try withByteWriter(capacity: Self.scratch) { second throws(SchemeError) in
                        try run(request, edits, values, &text, &first, &second)
                    }
                }
            }
        }
    }

    @_lifetime(text: copy text)
    @_lifetime(first: copy first)
    @_lifetime(second: copy second)
    private func run(
        _ request: borrowing RequestView, _ edits: Edits, _ values: UnsafeMutableBufferPointer<Range<Int>>,
        _ text: inout ByteWriter, _ first: inout ByteWriter, _ second: inout ByteWriter
    ) throws(SchemeError) {
        let facts = try facts(of: request)
        for index in program.steps.indices {
            // Reads the branch in place, because copying a step would be slow.
            if let branch = program.steps[index].branch, (facts >> branch.condition & 1 == 0) != branch.isOtherwise { continue }
            let start = text.count
            switch program.steps[index].action {
            case .compute(let slot, let source, let filters):
                try compute(source, filters, program.isStrict[slot], request, values, &text, &first, &second)
                values[slot] = start..<text.count
            case .join(let slot, let parts):
                for part in parts { try append(program.parts[part], request, values, &text) }
                values[slot] = start..<text.count
            case .leave: break
            case .refuse(let text): throw .unsupported("the recipe refuses the request: \(recipe.text(text))")
            case .send(let output, _, let slot):
                let value = text.bytes.extracting(values[slot])
                if program.isRaw[slot] { try refuseRawBytes(value, index) }
                switch output {
                case .header: edits.setHeader(names[index], value)
                case .query:
                    try refuseItem(names[index], of: request)
                    edits.addQueryItem(names[index], value)
                case .cookie: edits.addCookie(names[index], value)
                }
            }
            if let explanation { explanation.explain(program.steps[index], self, request, values, text.bytes) }
        }
    }
}

/// The settings that recipes use.
struct SettingTexts: Sendable {
    let key: [UInt8]
    /// The secret, decoded.
    let secret: Secret
    let passphrase, token, memo: Secret?

    func isGiven(_ setting: Recipe.SettingName) -> Bool {
        setting == .key ? !key.isEmpty : self[setting].map { !$0.isEmpty } ?? false
    }

    /// Nil for the key, which isn't secret, or if the setting is missing.
    subscript(setting: Recipe.SettingName) -> Secret? {
        switch setting {
        case .key: nil
        case .secret: secret
        case .passphrase: passphrase
        case .token: token
        case .memo: memo
        }
    }

    /// Lends the bytes of a setting.
    func withBytes<Result>(
        _ setting: Recipe.SettingName, _ body: (Span<UInt8>) throws(SchemeError) -> Result
    ) throws(SchemeError) -> Result {
        guard setting != .key, let secret = self[setting] else {
            let key = key
            return try body(key.span)
        }
        return try secret.withUnsafeBytes { bytes throws(SchemeError) in try body(Span(_unsafeBytes: bytes)) }
    }
}
