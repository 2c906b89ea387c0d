extension Recipe {
    /// Marks the parts of texts of lines, in which a control byte that came out of a decoding could forge one.
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
        // From the uses back to the definitions, which stand above them.
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

    /// Whether a chain of filters leaves line breaks that the recipe wrote, and whether decoded bytes ever stand beside such.
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
    /// Whether its value has been decoded, so that it may have control bytes.
    var isDecoded: Bool {
        switch self {
        case .queryItem, .formField, .jsonMember: true
        default: false
        }
    }
}
