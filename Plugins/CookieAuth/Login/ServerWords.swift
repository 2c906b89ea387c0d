internal import NevodPluginKit
internal import NevodSupport

/// The server's own words about a refusal: a message of its JSON, or an alert of its page.
enum ServerWords {
    private static let names = [
        "message", "error_description", "detail", "error", "errors", "non_field_errors", "reason", "title", "msg", "description",
    ]
    /// The limits on the bytes of a message and on the nesting of JSON.
    private static let most = 200
    private static let depth = 5
    /// The limit on the values that are read.
    private static let budget = 200

    /// - Parameter hidden: passwords and codes that the words must not repeat.
    static func words(of answer: Answer, hiding hidden: [Secret]) -> String? {
        var budget = budget
        let said = answer.json.flatMap { text(in: $0, depth, &budget) } ?? answer.page?.alerts.first
        guard let said, let words = cleaned(said) else { return nil }
        if hidden.contains(where: { repeats(said, $0) }) { return nil }
        return words
    }

    /// Whether a text repeats a secret, or ends in the middle of one. Ignores changes of white space.
    private static func repeats(_ text: String, _ secret: Secret) -> Bool {
        let isVisible = { (byte: UInt8) in byte > 0x20 }
        var text = text.utf8.filter(isVisible)
        if text.suffix(3).elementsEqual("…".utf8) { text.removeLast(3) }
        return secret.withUnsafeBytes { bytes in
            let secret = bytes.filter(isVisible)
            guard !secret.isEmpty else { return false }
            if text.firstRange(ofBytes: secret) != nil { return true }
            // An ordinary word may share fewer than four bytes with a secret's beginning.
            let longest = min(secret.count, text.count)
            return longest >= 4 && (4...longest).contains { text.suffix($0).elementsEqual(secret.prefix($0)) }
        }
    }

    /// The first text under one of the names. An object's own members come before the members of nested objects.
    private static func text(in value: JSONValue, _ depth: Int, _ budget: inout Int) -> String? {
        budget -= 1
        guard depth > 0, budget > 0 else { return nil }
        switch value {
        case .object(let members):
            for name in names {
                guard let member = value[name] else { continue }
                if let text = said(by: member, depth - 1, &budget) { return text }
            }
            for member in members.prefix(20) {
                switch member.value {
                case .object, .array: if let text = text(in: member.value, depth - 1, &budget) { return text }
                default: break
                }
            }
            return nil
        case .array(let elements):
            for element in elements.prefix(5) {
                if let text = text(in: element, depth - 1, &budget) { return text }
            }
            return nil
        default: return nil
        }
    }

    /// The text of a member with one of the names: the value itself, its first element, or a text within it.
    private static func said(by value: JSONValue, _ depth: Int, _ budget: inout Int) -> String? {
        budget -= 1
        guard depth >= 0, budget > 0 else { return nil }
        switch value {
        case .string(let text): return cleaned(text) == nil ? nil : text
        case .array(let elements): return elements.first.flatMap { said(by: $0, depth - 1, &budget) }
        case .object(let members):
            if let text = text(in: value, depth, &budget) { return text }
            // The members may be a form's fields, each with its messages.
            for member in members.prefix(5) {
                if let text = said(by: member.value, depth - 1, &budget) { return text }
            }
            return nil
        default: return nil
        }
    }

    /// The text on one line, without controls, cut at a character's end; nil if nothing is left.
    private static func cleaned(_ text: String) -> String? {
        var words = ""
        var isSpace = false
        for scalar in text.unicodeScalars {
            if scalar.value <= 0x20 || (0x7F...0xA0).contains(scalar.value) {
                isSpace = !words.utf8.isEmpty
                continue
            }
            guard !scalar.isUnsafeAtTerminal else { continue }
            guard words.utf8.count < most else { return words + "…" }
            if isSpace { words.unicodeScalars.append(" ") }
            isSpace = false
            words.unicodeScalars.append(scalar)
        }
        return words.utf8.isEmpty ? nil : words
    }
}
