internal import NevodPluginKit

extension Recipe {
    /// Drops the steps that no output needs, and lets hash functions read concatenations directly, so that a message with a large
    /// body is never built.
    ///
    /// - Parameter keepsAll: whether to keep each step, to explain it.
    mutating func optimize(keepsAll: Bool) {
        // Refuses a request before computing or explaining anything.
        steps = steps.filter { $0.isRefusal } + steps.filter { !$0.isRefusal }
        for step in steps { count(step, 1) }
        if !keepsAll {
            var kept: [Step] = []
            for step in steps.reversed() {
                switch step.action {
                case .compute(let slot, _, _), .join(let slot, _), .leave(let slot, _):
                    if slots[slot].uses == 0 { count(step, -1) } else { kept.append(step) }
                case .send, .refuse: kept.append(step)
                }
            }
            steps = kept.reversed()
        }
        for index in steps.indices {
            guard case .compute(let slot, .part(.slot(let message)), let chain) = steps[index].action, slots[message].uses == 1,
                let first = chain.first, canReadParts(filters[first])
            else { continue }
            let definitions = steps.indices.filter {
                switch steps[$0].action {
                case .join(message, _), .compute(message, _, _): true
                default: false
                }
            }
            guard definitions.count == 1, case .join(_, let parts) = steps[definitions[0]].action else { continue }
            steps[definitions[0]].action = .leave(message, parts)
            steps[index].action = .compute(slot, .text(parts), chain)
        }
        if !keepsAll {
            steps = steps.filter { if case .leave = $0.action { false } else { true } }
        }
    }

    /// Whether a function takes its input in pieces.
    private func canReadParts(_ filter: Filter) -> Bool {
        switch filter {
        case .hash, .hmac(_, .setting), .hmac(_, .prepared): true
        default: false
        }
    }

    private mutating func count(_ step: Step, _ change: Int) {
        switch step.action {
        case .compute(_, let source, let chain):
            switch source {
            case .part(let part): count(part, change)
            case .text(let range): for index in range { count(parts[index], change) }
            default: break
            }
            for index in chain { if case .hmac(_, .slot(let slot)) = filters[index] { slots[slot].uses += change } }
        case .join(_, let range), .leave(_, let range): for index in range { count(parts[index], change) }
        case .send(_, _, let slot): slots[slot].uses += change
        case .refuse: break
        }
    }

    private mutating func count(_ part: Part, _ change: Int) {
        if case .slot(let slot) = part { slots[slot].uses += change }
    }

    /// The data that the host has to compute or copy.
    var needs: Needs {
        var needs: Needs = []
        for step in steps {
            switch step.action {
            case .compute(_, .part(.request(.body)), let chain):
                if let first = chain.first, case .hash(let function) = filters[first], let digest = DigestAlgorithm(function) {
                    needs.insert(digest.bodyNeed)
                } else {
                    needs.insert(.body)
                }
            case .compute(_, let source, _):
                switch source {
                case .header, .headers: needs.insert(.headers)
                case .formField, .jsonMember: needs.insert(.body)
                case .nonce: needs.insert(.random)
                case .text(let range): if range.contains(where: { parts[$0] == .request(.body) }) { needs.insert(.body) }
                default: break
                }
            case .join(_, let range): if range.contains(where: { parts[$0] == .request(.body) }) { needs.insert(.body) }
            case .leave, .send, .refuse: break
            }
        }
        for clause in clauses {
            switch clause.fact {
            case .form, .json, .header: needs.insert(.headers)
            default: break
            }
        }
        return needs
    }
}

extension Recipe {
    /// Marks the slots that become parts of lines. A decoded control byte in them could forge a line.
    ///
    /// - Parameter decoded: for each slot, whether it holds decoded bytes.
    mutating func markStrict(_ decoded: [Bool]) {
        var hasLines = [Bool](repeating: false, count: slots.count)
        for step in steps {
            switch step.action {
            case .join(let slot, let range), .leave(let slot, let range):
                if parts[range].contains(where: { holdsLineBreak($0, hasLines) }) { hasLines[slot] = true }
            case .compute(let slot, let source, let chain):
                let lines = lines(of: source, chain, hasLines, decoded)
                if lines.areLeft { hasLines[slot] = true }
                if lines.areForgeable { slots[slot].isStrict = true }
            case .send, .refuse: break
            }
        }
        // Goes backward from uses to definitions, since definitions come first.
        for step in steps.reversed() {
            var used: [Part] = []
            switch step.action {
            case .join(let slot, let range), .leave(let slot, let range):
                if slots[slot].isStrict || hasLines[slot] { used = Array(parts[range]) }
            case .compute(let slot, .part(let part), _): if slots[slot].isStrict { used = [part] }
            default: break
            }
            for part in used { if case .slot(let slot) = part, decoded[slot] { slots[slot].isStrict = true } }
        }
    }

    private func holdsLineBreak(_ part: Part, _ hasLines: [Bool]) -> Bool {
        switch part {
        case .literal(let range): holdsLineBreak(range)
        case .slot(let slot): hasLines[slot]
        default: false
        }
    }

    private func holdsLineBreak(_ range: Range<Int>) -> Bool { Filter.hasLineBreak(bytes[range]) }

    /// Whether a chain of filters leaves line breaks that the recipe wrote, and whether decoded bytes ever occur together with
    /// them.
    private func lines(
        of source: Source, _ chain: Range<Int>, _ hasLines: [Bool], _ decoded: [Bool]
    ) -> (areLeft: Bool, areForgeable: Bool) {
        var (areThere, isDecoded, areForgeable) = (false, source.isDecoded, false)
        switch source {
        case .part(let part):
            areThere = holdsLineBreak(part, hasLines)
            if case .slot(let slot) = part { isDecoded = decoded[slot] }
        case .headers: areThere = true
        case .time(_, .pattern(let range)): areThere = holdsLineBreak(range)
        default: break
        }
        for index in chain {
            switch filters[index] {
            case .hash, .hmac, .encode, .percentEncode, .reencode, .json: (areThere, isDecoded) = (false, false)
            case .length, .collapse: areThere = false
            case .sortLines: areThere = true
            case .decode, .percentDecode: isDecoded = true
            case .prefix(let text), .suffix(let text), .fallback(let text), .replace(_, let text):
                areThere = areThere || holdsLineBreak(text)
            case .names(let separator), .lineNames(let separator): areThere = holdsLineBreak(separator)
            case .values(let separator, let decodes):
                (areThere, isDecoded) = (holdsLineBreak(separator), isDecoded || decodes)
            case .join(let equals, let separator, let decodes):
                (areThere, isDecoded) = (holdsLineBreak(equals) || holdsLineBreak(separator), isDecoded || decodes)
            default: break
            }
            areForgeable = areForgeable || areThere && isDecoded
        }
        return (areThere, areForgeable)
    }
}

extension Recipe.Source {
    /// Whether the value is decoded, so that it may have control bytes.
    var isDecoded: Bool {
        switch self {
        case .queryItem, .formField, .jsonMember: true
        default: false
        }
    }
}
