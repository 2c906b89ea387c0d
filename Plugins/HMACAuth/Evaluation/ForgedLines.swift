internal import NevodPluginKit
internal import NevodSupport

// A signed message is often made of lines. A request that holds an encoded line break, such as `/orders%0AGET`, must not forge
// one of them once it is decoded: the server would read a message that wasn't signed. So when a recipe is read, the values that
// become parts of lines are marked; a request is refused if the decoded bytes in them hold a control character.

extension Filter {
    /// Refuses decoded control bytes in a text of lines.
    static func refuseControls(_ decoded: Span<UInt8>) throws(SchemeError) {
        guard decoded.indices.contains(where: { decoded[$0].isControl }) else { return }
        throw .unsupported(
            "the request holds an encoded control character, which would look like a line of the signed message once decoded")
    }

    static func hasLineBreak(_ text: some Sequence<UInt8>) -> Bool {
        text.contains { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
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
        // Goes backward from uses to definitions, because definitions come first.
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
