internal import NevodSupport

/// Tracks the facts that each value depends on, for each combination of a recipe's conditions. Refuses a recipe that would silently
/// sign wrongly.
struct RecipeChecks {
    private let recipe: Recipe
    /// The slots that are keys of HMACs, or that go into such keys without a hash.
    private let keys: [Int]

    private typealias Sources = Dependence.Sources

    private init(_ recipe: Recipe) {
        self.recipe = recipe
        var keys = recipe.filters.compactMap { if case .hmac(_, .slot(let slot)) = $0 { slot } else { nil } }
        // Goes backward from uses to definitions, because definitions come first. The parts of a key, if not hashed, are as
        // secret as the key.
        for step in recipe.steps.reversed() {
            switch step.action {
            case .compute(let slot, .part(.slot(let source)), let chain) where keys.contains(slot):
                if !recipe.filters[chain].contains(where: { $0.isDigest }) { keys.append(source) }
            case .join(let slot, let parts) where keys.contains(slot):
                if let source = recipe.onlySecret(of: parts) { keys.append(source) }
            default: break
            }
        }
        self.keys = keys
    }

    private func fault(_ place: Recipe.Place, _ problem: String) -> RecipeError { RecipeError(place: place, problem: problem) }

    /// Checks a recipe, and marks its secret slots and its strict slots.
    static func check(_ recipe: inout Recipe) throws(RecipeError) {
        let checks = RecipeChecks(recipe)
        try checks.checkHeaders()
        var secret = [Bool](repeating: false, count: recipe.slots.count)
        var decoded = secret
        for combination in 0..<1 << recipe.conditions.count {
            try checks.check(combination, &secret, &decoded)
        }
        for slot in recipe.slots.indices { recipe.slots[slot].isSecret = secret[slot] }
        recipe.markStrict(decoded)
    }

    private func isTaken(_ branch: Recipe.Branch?, _ combination: Int) -> Bool {
        guard let branch else { return true }
        return combination >> branch.condition & 1 == (branch.isOtherwise ? 0 : 1)
    }

    // MARK: Each combination of conditions

    private func check(
        _ combination: Int, _ secret: inout [Bool], _ decoded: inout [Bool]
    ) throws(RecipeError) {
        var values = [Dependence?](repeating: nil, count: recipe.slots.count)
        var sent = Dependence()
        var outputs: [(Recipe.Output, [UInt8])] = []
        var (timePlace, noncePlace): (Recipe.Place?, Recipe.Place?)
        let steps = recipe.steps.filter { isTaken($0.branch, combination) }
        // Such a request is refused, so nothing is sent.
        guard !steps.contains(where: { $0.isRefusal }) else { return }
        for step in steps {
            switch step.action {
            case .compute(let slot, let source, let filters):
                values[slot] = try dependence(of: source, filters, values, &secret, step.place)
            case .join(let slot, let parts), .leave(let slot, let parts):
                var value = Dependence()
                for index in parts { value.formUnion(try dependence(of: recipe.parts[index], values, step.place)) }
                values[slot] = value
            case .send(let output, let name, let slot):
                let value = try self.value(of: slot, values, step.place)
                guard !value.plain.contains(.clear(.secret)) else {
                    throw fault(step.place, "the secret itself would be sent, with which anybody could sign")
                }
                guard !value.plain.contains(.derivedKey) else {
                    throw fault(step.place, "the key of an HMAC would be sent, with which anybody could sign")
                }
                if timePlace == nil, value.plain.contains(.time) { timePlace = step.place }
                if noncePlace == nil, value.plain.contains(.nonce) { noncePlace = step.place }
                sent.formUnion(value)
                let name = recipe.bytes[name].map { output == .header ? $0.lowercased : $0 }
                guard !outputs.contains(where: { $0.0 == output && $0.1 == name }) else {
                    throw fault(step.place, "\(String(decoding: name, as: UTF8.self)) is sent twice")
                }
                outputs.append((output, name))
            case .refuse: break
            }
        }
        for (slot, value) in values.enumerated() {
            guard let value else { continue }
            // The digits of a key are as secret as the key.
            if keys.contains(slot) || !value.plain.isDisjoint(with: [.secret, .derivedKey]) { secret[slot] = true }
            if value.plain.contains(.decoded) { decoded[slot] = true }
        }
        try check(sent, timePlace, noncePlace)
    }

    private func check(
        _ sent: Dependence, _ timePlace: Recipe.Place?, _ noncePlace: Recipe.Place?
    ) throws(RecipeError) {
        let place = recipe.steps.last?.place ?? Recipe.Place(line: 1, column: 1)
        // A secret that is itself sent with the signature doesn't count as a key.
        let signed = sent.signed(without: sent.plain.exposedKeys)
        let passwords = sent.plain.intersection(.keys).subtracting(sent.plain.exposedKeys)
        guard !signed.isEmpty || !passwords.isEmpty else {
            throw fault(
                place,
                "no signature is sent\(when): nothing that is sent is a hash or an HMAC of a secret that isn't itself sent")
        }
        guard signed.contains(.request) || recipe.acceptsUnboundSignature else {
            throw fault(
                place,
                "the signature covers nothing of the request, so it would be valid for any other\(when); if the server wants it so, "
                    + "write the line: accept unbound-signature")
        }
        if let timePlace, !signed.contains(.time), !recipe.acceptsUnsignedTime {
            throw fault(timePlace, unsigned("time"))
        }
        if let noncePlace, !signed.contains(.nonce), !recipe.acceptsUnsignedNonce {
            throw fault(noncePlace, unsigned("nonce"))
        }
    }

    private func unsigned(_ what: String) -> String {
        "a \(what) is sent and not signed, so anybody can change it\(when); if the server wants it so, write the line: "
            + "accept unsigned-\(what)"
    }

    private var when: String { recipe.conditions.isEmpty ? "" : ", for one of the conditions" }

    private func value(of slot: Int, _ values: [Dependence?], _ place: Recipe.Place) throws(RecipeError) -> Dependence {
        guard var value = values[slot] else {
            throw fault(
                place, "\(recipe.name(of: slot)) is defined for only one of the conditions; define it for the other one too")
        }
        if keys.contains(slot) { value.plain.insert(.derivedKey) }
        return value
    }

    private func dependence(
        of part: Recipe.Part, _ values: [Dependence?], _ place: Recipe.Place
    ) throws(RecipeError) -> Dependence {
        switch part {
        case .literal: Dependence()
        case .slot(let slot): try value(of: slot, values, place)
        case .request(.scheme): Dependence()
        case .request: Dependence(plain: .request)
        case .setting(let setting): Dependence(setting)
        }
    }

    private func dependence(
        of source: Recipe.Source, _ filters: Range<Int>, _ values: [Dependence?], _ secret: inout [Bool],
        _ place: Recipe.Place
    ) throws(RecipeError) -> Dependence {
        var value: Dependence
        switch source {
        case .part(let part): value = try dependence(of: part, values, place)
        case .text(let parts):
            value = Dependence()
            for index in parts { value.formUnion(try dependence(of: recipe.parts[index], values, place)) }
        case .url, .segment, .header, .headers: value = Dependence(plain: .request)
        case .queryItem, .formField, .jsonMember: value = Dependence(plain: [.request, .decoded])
        case .time: value = Dependence(plain: .time)
        case .nonce: value = Dependence(plain: .nonce)
        }
        for index in filters {
            switch recipe.filters[index] {
            case .hash: value.hash()
            case .hmac(_, .setting(let setting)): value.hash(by: Dependence(setting))
            case .hmac(_, .slot(let slot)):
                secret[slot] = true
                value.hash(by: try self.value(of: slot, values, place))
            // Doesn't occur: keys are prepared after these checks.
            case .hmac(_, .prepared): break
            case .encode, .percentEncode, .json, .reencode: value.plain.subtract(.decoded)
            case .percentDecode, .decode: value.plain.insert(.decoded)
            case .join(_, _, let isDecoded), .values(_, let isDecoded): if isDecoded { value.plain.insert(.decoded) }
            default: break
            }
        }
        return value
    }

    // MARK: Headers

    /// Refuses a recipe that uses one of the caller's headers and also writes it.
    private func checkHeaders() throws(RecipeError) {
        let written = recipe.steps.compactMap { step -> [UInt8]? in
            switch step.action {
            case .send(.header, let name, _): recipe.bytes[name].map { $0.lowercased }
            case .send(.cookie, _, _): Array("cookie".utf8)
            default: nil
            }
        }
        let check = { (name: ArraySlice<UInt8>, place: Recipe.Place) throws(RecipeError) in
            let name = name.map { $0.lowercased }
            guard written.contains(name) else { return }
            let text = String(decoding: name, as: UTF8.self)
            throw fault(
                place, "the caller's header \(text) is used, but the recipe itself writes \(text); use the value that it writes")
        }
        for step in recipe.steps {
            guard case .compute(_, let source, _) = step.action else { continue }
            switch source {
            case .header(let name, _): try check(recipe.bytes[name], step.place)
            case .headers(let names):
                for name in recipe.bytes[names].split(separator: UInt8(ascii: "\n")) {
                    try check(name.first == UInt8(ascii: "?") ? name.dropFirst() : name, step.place)
                }
            default: break
            }
        }
        let place = recipe.steps.first?.place ?? Recipe.Place(line: 1, column: 1)
        for clause in recipe.clauses {
            switch clause.fact {
            case .header(let name): try check(recipe.bytes[name], place)
            case .form, .json: try check(Array("content-type".utf8)[...], place)
            default: break
            }
        }
    }
}

extension Recipe {
    /// The only part of a concatenation that isn't public text; nil if there is none, or if there are several.
    fileprivate func onlySecret(of range: Range<Int>) -> Int? {
        var slot: Int?
        for part in parts[range] {
            switch part {
            case .slot(let other):
                guard slot == nil else { return nil }
                slot = other
            case .setting(let setting): if setting.isSecret { return nil }
            case .literal, .request: break
            }
        }
        return slot
    }
}

extension RecipeReader {
    /// Refuses a name that nothing uses, because a part of the message was probably forgotten.
    func checkUses() throws(RecipeError) {
        for definition in names where !used.contains(definition.name) {
            throw RecipeError(
                place: Recipe.Place(line: definition.line, column: 1),
                problem:
                    "\(String(decoding: definition.name, as: UTF8.self)) is never used; use it in a template, or drop the line")
        }
    }
}

extension TemplateReader {
    /// Refuses a setting that is used but not given.
    static func require(
        _ setting: Recipe.SettingName, _ word: TemplateText.Word, _ text: TemplateText, _ reader: RecipeReader
    ) throws(RecipeError) {
        guard !reader.isGiven(setting), !reader.isExcluded else { return }
        throw text.error(
            "the value of \(setting == .key ? "api-key" : word.text), which is not given: write "
                + (setting == .key ? "--set api-key=ID" : "--set \(word.text)=env:VARIABLE"), at: word.start)
    }
}
