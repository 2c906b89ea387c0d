internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

/// Reads templates: text with `{VALUE|FILTER|…}`.
enum TemplateReader {
    enum Piece {
        case literal(Range<Int>)
        case value(Recipe.Source, [Filter], Recipe.Place)
    }

    private static let mostFilters = 16

    static func pieces(of template: TemplateText, _ reader: inout RecipeReader) throws(RecipeError) -> [Piece] {
        var text = template
        var pieces: [Piece] = []
        var literal: [UInt8] = []
        while let byte = text.next() {
            switch byte {
            case UInt8(ascii: "\\"): literal.append(try text.escaped())
            case UInt8(ascii: "{") where text.peek == byte, UInt8(ascii: "}") where text.peek == byte:
                literal.append(byte)
                _ = text.next()
            case UInt8(ascii: "{"):
                if !literal.isEmpty { pieces.append(.literal(reader.store(literal))) }
                literal = []
                pieces.append(try value(&text, &reader))
            case UInt8(ascii: "}"): throw text.error("a } without its {; write }} for a literal one", at: text.position - 1)
            default: literal.append(byte)
            }
        }
        if !literal.isEmpty || pieces.isEmpty { pieces.append(.literal(reader.store(literal))) }
        return pieces
    }

    /// Reads a value and its filters, after the brace.
    private static func value(_ text: inout TemplateText, _ reader: inout RecipeReader) throws(RecipeError) -> Piece {
        let start = text.position
        var chain: [[TemplateText.Word]] = []
        repeat {
            chain.append(try text.words())
            guard let end = text.next() else { throw text.error("a { without its }; write {{ for a literal one", at: start - 1) }
            if end == UInt8(ascii: "}") { break }
        } while chain.count <= mostFilters + 1
        // The first element is the value itself.
        guard chain.count - 1 <= mostFilters else { throw text.error("more than \(mostFilters) filters", at: start) }
        var filters: [Filter] = []
        let (source, alias, used) = try source(chain, text, &reader)
        if let alias { filters.append(alias) }
        for words in chain.dropFirst(used) { filters.append(try filter(words, text, &reader)) }
        return .value(source, filters, text.place(of: start - 1))
    }

    // MARK: Values

    /// The names of values, for messages.
    static let valueNames = [
        "method", "scheme", "host", "hostname", "port", "target", "path", "segment:N", "query", "query:NAME", "url", "body",
        "form:NAME",
        "json:NAME", "header:NAME", "headers:NAME;NAME", "time|FORMAT", "nonce", "key", "secret", "passphrase", "token", "memo",
    ]

    static func isReserved(_ name: [UInt8]) -> Bool {
        timeOffset(name) != nil
            || valueNames.contains { $0.utf8.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "|") }.elementsEqual(name) }
    }

    /// - Returns: the value, a filter that its name implies, and the number of elements of the chain that were read.
    private static func source(
        _ chain: [[TemplateText.Word]], _ text: TemplateText, _ reader: inout RecipeReader
    ) throws(RecipeError) -> (Recipe.Source, Filter?, Int) {
        let words = chain[0]
        let name = words[0]
        if words.count == 1 {
            if let part = part(name.text) {
                if case .setting(let setting) = part { try require(setting, name, text, reader) }
                return (.part(part), nil, 1)
            }
            if let slot = reader.slot(named: name.bytes) { return (.part(.slot(slot)), nil, 1) }
            switch name.text {
            case "url": return (.url, nil, 1)
            case "nonce": return try nonce(chain, text)
            default:
                if let offset = timeOffset(name.bytes) { return try time(offset, chain, text, &reader) }
            }
        } else if words.count == 2 {
            let argument = words[1]
            let isOptional = argument.bytes.last == UInt8(ascii: "?")
            let item = isOptional ? Array(argument.bytes.dropLast()) : argument.bytes
            switch name.text {
            case "segment":
                let isFromEnd = argument.bytes.first == UInt8(ascii: "-")
                let digits = TemplateText.Word(bytes: Array(argument.bytes.dropFirst(isFromEnd ? 1 : 0)), start: argument.start)
                guard let number = digits.number, number > 0 else {
                    throw text.error("a segment's number counts from 1, or from -1 at the end", at: argument.start)
                }
                return (.segment(isFromEnd ? -number : number), nil, 1)
            // Names of the short form.
            case "path" where argument.text == "decoded" && reader.isShortForm:
                return (.part(.request(.path)), .percentDecode(plusIsSpace: false), 1)
            case "query" where argument.text == "sorted" && reader.isShortForm:
                return (.part(.request(.query)), .sort(.written), 1)
            case "query" where !item.isEmpty: return (.queryItem(reader.store(item), isOptional: isOptional), nil, 1)
            case "form" where !item.isEmpty: return (.formField(reader.store(item), isOptional: isOptional), nil, 1)
            case "json" where !item.isEmpty: return (.jsonMember(reader.store(item), isOptional: isOptional), nil, 1)
            case "header" where isHeaderName(item): return (.header(reader.store(item), isOptional: isOptional), nil, 1)
            case "headers": return (.headers(try headers(argument, text, &reader)), nil, 1)
            default: break
            }
        } else if name.text == "query" || name.text == "form" || name.text == "json" {
            throw text.error(oneText(name, "name"), at: name.start)
        }
        let whole = String(
            decoding: text.bytes[name.start..<(words[words.count - 1].start + words[words.count - 1].bytes.count)]
                .prefix(64), as: UTF8.self)
        let known = (valueNames + reader.definedNames).map { "{\($0)}" }.joined(separator: ", ")
        throw text.error("an unknown placeholder {\(whole)}; use one of \(known)", at: name.start)
    }

    private static func oneText(_ name: TemplateText.Word, _ what: String) -> String {
        "\(name.text) takes one \(what); write \\: for a colon in it"
    }

    static func isHeaderName(_ name: [UInt8]) -> Bool { !name.isEmpty && name.allSatisfy { $0.isTokenByte } }

    private static func part(_ name: String) -> Recipe.Part? {
        switch name {
        case "method": .request(.method)
        case "scheme": .request(.scheme)
        case "host": .request(.host)
        case "hostname": .request(.hostname)
        case "port": .request(.port)
        case "target": .request(.target)
        case "path": .request(.path)
        case "query": .request(.query)
        case "body": .request(.body)
        default: setting(name).map { .setting($0) }
        }
    }

    private static func setting(_ name: String) -> Recipe.SettingName? { Recipe.SettingName(text: name) }

    /// Names, each followed by a line feed. An optional name has a leading `?`. A name may end with `*`.
    private static func headers(
        _ argument: TemplateText.Word, _ text: TemplateText, _ reader: inout RecipeReader
    ) throws(RecipeError) -> Range<Int> {
        var list: [UInt8] = []
        for name in argument.bytes.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false) {
            let isOptional = name.last == UInt8(ascii: "?")
            let bare = Array(isOptional ? name.dropLast() : name)
            // The star is a character of names too, so it needs no special rule.
            guard isHeaderName(bare), bare.first != UInt8(ascii: "*") else {
                throw text.error("headers are named with ; between them: {headers:host;date;x-acme-*}", at: argument.start)
            }
            if isOptional { list.append(UInt8(ascii: "?")) }
            list += bare.map { $0.lowercased }
            list.append(UInt8(ascii: "\n"))
        }
        return reader.store(list)
    }

    // MARK: Filters

    private static func filter(
        _ words: [TemplateText.Word], _ text: TemplateText, _ reader: inout RecipeReader
    ) throws(RecipeError) -> Filter {
        let name = words[0].text
        if words.count == 1, let plain = Filter.plain.first(where: { $0.name == name }) { return plain.filter }
        if words.count == 2 {
            switch name {
            case "encode", "reencode":
                guard let set = Filter.EscapeSet(words[1].text) else {
                    throw text.error(
                        "an unknown percent-encoding, \"\(words[1].text)\"; use one of "
                            + Filter.EscapeSet.names.joined(separator: ", ") + ", or one of them with -lower", at: words[1].start)
                }
                return name == "encode" ? .percentEncode(set) : .reencode(set)
            case "decode" where words[1].text == "form": return .percentDecode(plusIsSpace: true)
            case "sort" where words[1].text == "decoded": return .sort(.decoded)
            case "sort" where words[1].text == "names": return .sort(.names)
            case "prefix": return .prefix(reader.store(words[1].bytes))
            case "suffix": return .suffix(reader.store(words[1].bytes))
            case "default": return .fallback(reader.store(words[1].bytes))
            case "without-prefix": return .withoutPrefix(reader.store(words[1].bytes))
            case "without-suffix": return .withoutSuffix(reader.store(words[1].bytes))
            case "before": return .before(reader.store(try notEmpty(words[1], text)))
            case "after": return .after(reader.store(try notEmpty(words[1], text)))
            case "line-names": return .lineNames(separator: reader.store(words[1].bytes))
            case "names": return .names(separator: reader.store(words[1].bytes))
            case "values", "values-decoded":
                return .values(separator: reader.store(words[1].bytes), isDecoded: name == "values-decoded")
            case "first", "last", "skip", "drop-last":
                guard let count = words[1].number else {
                    throw text.error("a number of bytes that isn't a number", at: words[1].start)
                }
                switch name {
                case "first": return .first(count)
                case "last": return .last(count)
                case "skip": return .skip(count)
                default: return .dropLast(count)
                }
            default: break
            }
        }
        switch (name, words.count) {
        case ("hmac", 3): return try hmac(words, text, &reader)
        case ("replace", 3): return .replace(reader.store(try notEmpty(words[1], text)), reader.store(words[2].bytes))
        case ("without", 2...), ("only", 2...):
            let names = reader.store(words.dropFirst().flatMap { $0.bytes + [UInt8(ascii: "\n")] })
            return name == "only" ? .only(names) : .without(names)
        case ("join", 3), ("join-decoded", 3):
            return .join(
                equals: reader.store(words[1].bytes), separator: reader.store(words[2].bytes), isDecoded: name == "join-decoded")
        case (_, 3...) where Filter.names.contains { $0 == "\(name):TEXT" || $0 == "\(name):SEPARATOR" }:
            throw text.error(oneText(words[0], "text"), at: words[0].start)
        default:
            throw text.error(
                "an unknown filter, \"\(words.map { $0.text }.joined(separator: ":"))\"; use one of "
                    + Filter.names.joined(separator: ", "), at: words[0].start)
        }
    }

    private static func notEmpty(_ word: TemplateText.Word, _ text: TemplateText) throws(RecipeError) -> [UInt8] {
        guard !word.bytes.isEmpty else { throw text.error("an empty text to look for", at: word.start) }
        // Searching takes time in proportion to the text's length.
        guard word.bytes.count <= 256 else { throw text.error("a text of more than 256 bytes to look for", at: word.start) }
        return word.bytes
    }

    private static func hmac(
        _ words: [TemplateText.Word], _ text: TemplateText, _ reader: inout RecipeReader
    ) throws(RecipeError) -> Filter {
        guard let function = HashFunction(text: words[1].text) else {
            throw text.error(
                "an unknown hash, \"\(words[1].text)\"; use one of "
                    + HashFunction.allCases.map { $0.rawValue }.joined(separator: ", "),
                at: words[1].start)
        }
        if let setting = setting(words[2].text) {
            try require(setting, words[2], text, reader)
            return .hmac(function, .setting(setting))
        }
        if let slot = reader.slot(named: words[2].bytes) { return .hmac(function, .slot(slot)) }
        throw text.error(
            "an unknown key, \"\(words[2].text)\"; use one of "
                + (Recipe.SettingName.allCases.map { $0.rawValue } + reader.definedNames).joined(separator: ", "),
            at: words[2].start)
    }
}
