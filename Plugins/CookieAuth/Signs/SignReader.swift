internal import NevodPluginKit
internal import NevodSupport

extension Sign {
    /// Reads a setting: conditions with spaces between them.
    ///
    /// - Parameters:
    ///   - text: a value with spaces is in double quotes. In quotes, a backslash makes a quote or a backslash literal.
    ///   - setting: the setting's name, for errors.
    ///   - namesMember: whether `NAME=VALUE` means a member of JSON.
    init(_ text: String, of setting: String, namesMember: Bool = false) throws(SchemeError) {
        var conditions: [Condition] = []
        for word in try Self.words(of: text, setting) {
            conditions.append(try Condition(word, setting, namesMember: namesMember))
        }
        guard !conditions.isEmpty else { throw .badSetting(setting, "must not be empty") }
        self.conditions = conditions
    }

    static func signs(
        _ texts: [String], of setting: String, namesMember: Bool = false
    ) throws(SchemeError) -> [Sign] {
        var signs: [Sign] = []
        for text in texts { signs.append(try Sign(text, of: setting, namesMember: namesMember)) }
        return signs
    }

    private static func words(of text: String, _ setting: String) throws(SchemeError) -> [String] {
        var words: [[UInt8]] = [[]]
        var (isQuoted, isEscaped) = (false, false)
        for byte in text.utf8 {
            if isEscaped || isQuoted && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") {
                words[words.count - 1].append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                isEscaped = true
            } else if byte == 0x20 {
                words.append([])
            } else {
                words[words.count - 1].append(byte)
            }
        }
        guard !isQuoted else { throw .badSetting(setting, "has a quote that isn't closed") }
        return words.filter { !$0.isEmpty }.map { String(decoding: $0, as: UTF8.self) }
    }
}

extension Sign.Condition {
    private static let kinds = "status, cookie, deleted, location, header, json, body, field"

    fileprivate init(_ word: String, _ setting: String, namesMember: Bool) throws(SchemeError) {
        isNegated = word.utf8.first == UInt8(ascii: "!")
        let text = isNegated ? String(Substring(word.utf8.dropFirst())) : word
        if let status = Self.statuses(text) {
            kind = .status(status)
            return
        }
        let name = text.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "=") }
        let rest = text.utf8[name.endIndex...]
        if namesMember, rest.first == UInt8(ascii: "=") {
            kind = try Self.member(text, setting)
            return
        }
        guard rest.first == UInt8(ascii: ":"), rest.count > 1 else {
            throw .badSetting(
                setting, "has \"\(word)\", which is not a condition; use one of \(Self.kinds), with a colon and a value")
        }
        let value = String(Substring(rest.dropFirst()))
        switch String(Substring(name)) {
        case "status":
            guard let status = Self.statuses(value) else {
                throw .badSetting(setting, "has \"\(word)\"; a status is a number from 100 to 599, or 4xx")
            }
            kind = .status(status)
        case "cookie": kind = .cookie(Pattern(value))
        case "deleted": kind = .deleted(Pattern(value))
        case "location":
            let part: Sign.Part =
                value.utf8.starts(with: "http".utf8) ? .whole : value.utf8.contains(UInt8(ascii: "?")) ? .target : .path
            kind = .location(Pattern(value), part)
        case "header":
            let (name, pattern) = value.splitAtEquals ?? (value, "*")
            kind = .header(name, Pattern(pattern))
        case "json": kind = try Self.member(value, setting)
        case "body": kind = .body(Array(value.utf8))
        case "field": kind = .field(value)
        default: throw .badSetting(setting, "has an unknown condition, \"\(Substring(name))\"; use one of \(Self.kinds)")
        }
    }

    private static func member(_ text: String, _ setting: String) throws(SchemeError) -> Sign.Kind {
        let (name, value): (String, String?) = text.splitAtEquals.map { ($0.name, $0.value) } ?? (text, nil)
        let path = name.memberPath
        guard !path.isEmpty, !path.contains(where: { $0.isEmpty }), text.utf8.first != UInt8(ascii: "=") else {
            throw .badSetting(setting, "has an empty name in \"\(text)\"")
        }
        return .json(path, value)
    }

    /// Reads `302` or `4xx`; nil for anything else.
    private static func statuses(_ text: String) -> ClosedRange<Int>? {
        let text = Array(text.utf8)
        guard text.count == 3, (UInt8(ascii: "1")...UInt8(ascii: "5")).contains(text[0]) else { return nil }
        let first = Int(text[0] - UInt8(ascii: "0")) * 100
        if text[1...].elementsEqual("xx".utf8) { return first...(first + 99) }
        return Int(digits: text).map { $0...$0 }
    }
}

extension String {
    /// The names of nested members, which dots separate.
    var memberPath: [String] {
        utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}
