internal import NevodPluginKit

extension Recipe {
    /// Drops the steps that no output needs, and lets hash functions read concatenations directly, so that a message with a large
    /// body is never built.
    ///
    /// - Parameter keepsAll: whether to keep each step, to explain it.
    mutating func optimize(keepsAll: Bool) {
        // Puts refusals first, so that nothing is computed or explained for a refused request.
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
