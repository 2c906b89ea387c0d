/// A page's messages to a person, collected while the page is read: the texts of elements whose class, id or role calls them
/// messages.
struct HTMLAlerts {
    private let page: UnsafeRawBufferPointer
    /// The messages by the rank of their elements' names.
    private var messages = [[String]](repeating: [], count: ranks.count)
    /// The rank of the message that is being read.
    private var rank: Int?
    private var message = HTMLMessage()

    private static let most = 3
    /// Words in the names of elements: first for errors, then for alerts of any kind, then for other messages. Last is the color
    /// of errors, for style frameworks whose names don't say what an element means.
    private static let ranks = [
        ["error", "danger", "invalid"], ["alert", "flash"], ["message", "notice", "warning"], ["text-red"],
    ]
    private static let hidingClasses = ["hidden", "hide", "d-none", "is-hidden", "invisible", "ng-hide", "modal"]
    /// How many bytes of an attribute are searched.
    private static let searched = 1024

    init(_ page: UnsafeRawBufferPointer) {
        self.page = page
    }

    /// At most three, errors first.
    var texts: [String] { Array(messages.joined().prefix(Self.most)) }

    /// Handles a start tag.
    ///
    /// - Parameter context: what the element is within; changed to what its content is within.
    mutating func start(_ tag: HTMLTagName, _ attributes: HTMLAttributes, _ context: inout HTMLContext) {
        guard !context.isHidden else { return }
        if isHidden(tag, attributes) {
            context.isHidden = true
        } else if !context.isMessage, let found = rank(of: tag, attributes) {
            context.isMessage = true
            rank = found
        }
    }

    /// Ends a line, if the tag of an element does so.
    mutating func separate(_ element: HTMLElement?) {
        if element?.isBlock == true || element == .br { message.separate() }
    }

    mutating func add(_ text: Range<Int>, hasReferences: Bool) {
        message.add(page, text, hasReferences ? .content : .plain)
    }

    /// Ends the open message.
    mutating func finish() {
        guard let rank else { return }
        self.rank = nil
        defer { message = HTMLMessage() }
        let text = message.text
        guard message.saysSomething, messages[rank].count < Self.most,
            !messages.joined().contains(where: { $0.utf8.elementsEqual(text.utf8) })
        else { return }
        messages[rank].append(text)
    }

    private func isHidden(_ tag: HTMLTagName, _ attributes: HTMLAttributes) -> Bool {
        switch tag.element {
        // If the whole page is hidden, a script shows it later.
        case .html, .body: return false
        case .button, .datalist, .noscript, .template, .svg, .math: return true
        default: break
        }
        if attributes.has(.hidden) { return true }
        if let value = attributes[.ariaHidden], page.isText("true", value) { return true }
        let style = searchable(attributes[.style]).filter { !$0.isWhitespace }
        if style.contains("display:none") || style.contains("visibility:hidden") { return true }
        let classes = searchable(attributes[.class]).split { $0.isWhitespace }
        return Self.hidingClasses.contains { name in classes.contains { $0.elementsEqual(name.utf8) } }
    }

    /// The rank of an element that is a message; nil if it isn't one.
    private func rank(of tag: HTMLTagName, _ attributes: HTMLAttributes) -> Int? {
        switch tag.element {
        // The names of these elements describe what the elements may contain.
        case .html, .body, .form, .title, .textarea, .option: return nil
        default: break
        }
        let names = [attributes[.class], attributes[.id], attributes[.role]].map { searchable($0) }
        return Self.ranks.firstIndex { words in words.contains { word in names.contains { $0.contains(word) } } }
    }

    private func searchable(_ range: Range<Int>?) -> [UInt8] {
        guard let range else { return [] }
        return range.prefix(Self.searched).map { page[$0].lowercased }
    }
}

extension [UInt8] {
    fileprivate func contains(_ word: String) -> Bool {
        let word = Array(word.utf8)
        guard count >= word.count else { return false }
        return (0...count - word.count).contains { start in word.indices.allSatisfy { self[start + $0] == word[$0] } }
    }
}

/// Text of a page for a person: on one line, of limited length, without characters that control a terminal.
struct HTMLMessage {
    private var scalars = String.UnicodeScalarView()
    private var count = 0
    private var hasSpace = false
    private var isCut = false

    /// The largest number of characters (Unicode scalars).
    private static let most = 200
    /// How many bytes of a text are read.
    private static let mostBytes = 16 << 10

    /// Adds a space, unless there is one already.
    mutating func separate() {
        hasSpace = true
    }

    /// Adds text of the page.
    mutating func add(_ page: UnsafeRawBufferPointer, _ range: Range<Int>, _ place: HTMLText.Place) {
        guard !isCut else { return }
        // A text that begins with more white space than this isn't a message.
        let read = range.prefix(Self.mostBytes)
        for scalar in HTMLText.decoded(page, read, place).unicodeScalars where !isCut {
            if scalar.isSpace {
                hasSpace = true
            } else if !scalar.isUnsafeAtTerminal {
                if hasSpace, count > 0 { append(" ") }
                hasSpace = false
                append(scalar)
            }
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if count == Self.most {
            isCut = true
            scalars.removeLast()
            scalars.append("…")
        } else if !isCut {
            scalars.append(scalar)
            count += 1
        }
    }

    var text: String { String(scalars) }

    /// Whether the text says something. The cross that closes a message doesn't, and neither does a script's template.
    var saysSomething: Bool {
        scalars.contains { $0.isASCII ? UInt8(truncatingIfNeeded: $0.value).isAlphanumeric : $0 != "×" && $0 != "…" }
            && !text.utf8.contains(UInt8(ascii: "{"))
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool {
        switch value {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x2028, 0x2029, 0x202F, 0x3000: true
        default: false
        }
    }
}
