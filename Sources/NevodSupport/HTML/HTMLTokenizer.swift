/// The tokens of an HTML page (HTML §13.2.5): tags and the text between them. It reads each byte a fixed number of times, so that
/// no page is slow to read.
struct HTMLTokenizer {
    enum Token {
        /// Bytes of text, with or without character references.
        case text(Range<Int>, hasReferences: Bool)
        /// A start tag. The tokenizer has its attributes.
        case start(HTMLTagName)
        case end(HTMLTagName)
    }

    let page: UnsafeRawBufferPointer
    /// The attributes of the start tag that was read last.
    private(set) var attributes = HTMLAttributes()
    private var position = 0
    /// Whether the next token is in a drawing or formula, where a CDATA section is text.
    var isForeign = false
    /// The element whose text is being read. Inside it, only its own end tag is a tag.
    private var rawElement: HTMLElement?

    init(_ page: UnsafeRawBufferPointer) {
        self.page = page
    }

    /// The next token; nil at the end of the page. A tag that the end of the page cuts off is not returned.
    mutating func next() -> Token? {
        if let element = rawElement {
            rawElement = nil
            let text = rawText(of: element)
            if !text.isEmpty { return .text(text, hasReferences: element == .textarea || element == .title) }
        }
        while position < page.count {
            let start = position
            guard page[position] == UInt8(ascii: "<") else {
                skip(to: UInt8(ascii: "<"))
                return .text(start..<position, hasReferences: true)
            }
            guard position + 1 < page.count else { break }
            position += 1
            switch page[position] {
            case UInt8(ascii: "!") where isForeign && matches("![cdata[", at: position):
                return .text(characterData(), hasReferences: false)
            case UInt8(ascii: "!"):
                skipDeclaration()
            case UInt8(ascii: "?"):
                skip(behind: UInt8(ascii: ">"))
            case UInt8(ascii: "/"):
                position += 1
                guard position < page.count else { break }
                guard page[position].isLetter else {
                    skip(behind: UInt8(ascii: ">"))
                    continue
                }
                if let name = tag() { return .end(name) }
            case let byte where byte.isLetter:
                if let name = tag() { return .start(name) }
            default:
                skip(to: UInt8(ascii: "<"))
                return .text(start..<position, hasReferences: true)
            }
        }
        // A "<" at the very end is text (HTML §13.2.5.6).
        guard position < page.count else { return nil }
        defer { position = page.count }
        return .text(position..<page.count, hasReferences: false)
    }

    /// Makes the next token the text of an element, up to its end tag.
    mutating func readText(of element: HTMLElement) {
        rawElement = element
    }

    private mutating func skip(to byte: UInt8) {
        while position < page.count, page[position] != byte { position += 1 }
    }

    private mutating func skip(behind byte: UInt8) {
        skip(to: byte)
        if position < page.count { position += 1 }
    }

    /// Skips a comment (HTML §13.2.5.43) or another declaration.
    private mutating func skipDeclaration() {
        guard matches("!--", at: position) else { return skip(behind: UInt8(ascii: ">")) }
        position += 3
        for empty in [">", "->"] where matches(empty, at: position) {
            position += empty.utf8.count
            return
        }
        while position < page.count {
            skip(to: UInt8(ascii: "-"))
            for end in ["-->", "--!>"] where matches(end, at: position) {
                position += end.utf8.count
                return
            }
            if position < page.count { position += 1 }
        }
    }

    /// The bytes of a CDATA section (HTML §13.2.5.69).
    private mutating func characterData() -> Range<Int> {
        position += 8
        let start = position
        while position < page.count, !matches("]]>", at: position) { position += 1 }
        defer { position = min(position + 3, page.count) }
        return start..<position
    }

    /// Reads a tag from its name to its end; nil if the page ends first.
    private mutating func tag() -> HTMLTagName? {
        let start = position
        while position < page.count, !page[position].isWhitespace, page[position] != UInt8(ascii: "/"),
            page[position] != UInt8(ascii: ">")
        {
            position += 1
        }
        let name = HTMLTagName(page, start..<position)
        attributes.removeAll()
        while position < page.count {
            switch page[position] {
            case UInt8(ascii: ">"):
                position += 1
                return name
            case UInt8(ascii: "/"):
                position += 1
                attributes.isSelfClosing = position < page.count && page[position] == UInt8(ascii: ">")
            case let byte where byte.isWhitespace:
                position += 1
            default:
                attribute()
            }
        }
        return nil
    }

    private mutating func attribute() {
        let start = position
        // A leading equals sign belongs to the name.
        position += 1
        while position < page.count, !page[position].isWhitespace, page[position] != UInt8(ascii: "/"),
            page[position] != UInt8(ascii: ">"), page[position] != UInt8(ascii: "=")
        {
            position += 1
        }
        let name = start..<position
        skipSpace()
        var value = position..<position
        if position < page.count, page[position] == UInt8(ascii: "=") {
            position += 1
            skipSpace()
            value = attributeValue()
        }
        attributes.add(HTMLAttribute(page, name), value)
    }

    private mutating func attributeValue() -> Range<Int> {
        let start = position
        guard position < page.count else { return start..<start }
        let quote = page[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            while position < page.count, !page[position].isWhitespace, page[position] != UInt8(ascii: ">") { position += 1 }
            return start..<position
        }
        position += 1
        skip(to: quote)
        defer { if position < page.count { position += 1 } }
        return start + 1..<position
    }

    private mutating func skipSpace() {
        while position < page.count, page[position].isWhitespace { position += 1 }
    }

    /// The bytes up to an element's end tag, or to the end of the page.
    private mutating func rawText(of element: HTMLElement) -> Range<Int> {
        let start = position
        var script = ScriptText()
        while position < page.count {
            if page[position] == UInt8(ascii: "<") {
                if !script.isNested, element != .plaintext, matches("</", at: position), isTag(element, at: position + 2) {
                    return start..<position
                }
                if element == .script { script.read(self, at: position) }
            } else if page[position] == UInt8(ascii: "-"), matches("-->", at: position) {
                script = ScriptText()
            }
            position += 1
        }
        return start..<position
    }

    /// Whether exactly this tag name is at this place.
    fileprivate func isTag(_ element: HTMLElement, at start: Int) -> Bool {
        let end = start + element.rawValue.utf8.count
        guard end < page.count, matches(element.rawValue, at: start) else { return false }
        return page[end].isWhitespace || page[end] == UInt8(ascii: "/") || page[end] == UInt8(ascii: ">")
    }

    /// Whether a text is at this place, in upper or lower case.
    ///
    /// - Parameter text: in lower case.
    fileprivate func matches(_ text: String, at start: Int) -> Bool {
        guard start <= page.count - text.utf8.count else { return false }
        return page.isText(text, start..<start + text.utf8.count)
    }
}

/// The state within a script (HTML §13.2.5.4). A script inside a comment of another script doesn't end the outer one.
private struct ScriptText {
    private var isComment = false
    private(set) var isNested = false

    mutating func read(_ page: HTMLTokenizer, at position: Int) {
        if page.matches("<!--", at: position) {
            isComment = true
        } else if isComment, page.isTag(.script, at: position + 1) {
            isNested = true
        } else if isNested, page.matches("</", at: position), page.isTag(.script, at: position + 2) {
            isNested = false
        }
    }
}
