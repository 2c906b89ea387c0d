/// The messages of a page to a person while it is read: the content of elements that are named so.
struct HTMLAlerts {
    private let page: UnsafeRawBufferPointer
    /// The messages by the rank of their elements' names.
    private var messages = [[String]](repeating: [], count: ranks.count)
    /// The element that is a message, and one that isn't shown.
    private var open: (element: HTMLOpenElement, rank: Int)?
    private var hidden: HTMLOpenElement?
    private var message = HTMLMessage()

    private static let most = 3
    /// Words in the names of elements: those that name an error, those that name an alert of any kind, and others; last the color of
    /// errors, where a framework of styles has no names for what things mean.
    private static let ranks = [
        ["error", "danger", "invalid"], ["alert", "flash"], ["message", "notice", "warning"], ["text-red"],
    ]
    private static let hidingClasses = ["hidden", "hide", "d-none", "is-hidden", "invisible", "ng-hide", "modal"]
    /// The bytes of an attribute that are searched.
    private static let searched = 1024

    init(_ page: UnsafeRawBufferPointer) {
        self.page = page
    }

    /// At most three, errors first.
    var texts: [String] { Array(messages.joined().prefix(Self.most)) }

    mutating func start(_ tag: HTMLTagName, _ attributes: HTMLAttributes) {
        if tag.element?.isBlock == true || tag.element == .br { message.separate() }
        if hidden?.open(tag, page) == true { hidden = nil }
        if open?.element.open(tag, page) == true { finish() }
        guard tag.element?.isVoid != true, hidden == nil else { return }
        if isHidden(tag, attributes) {
            hidden = HTMLOpenElement(tag)
        } else if open == nil, let rank = rank(of: tag, attributes) {
            open = (HTMLOpenElement(tag), rank)
        }
    }

    mutating func end(_ tag: HTMLTagName) {
        if tag.element?.isBlock == true { message.separate() }
        if hidden?.close(tag, page) == true { hidden = nil }
        if open?.element.close(tag, page) == true { finish() }
    }

    mutating func add(_ text: Range<Int>, hasReferences: Bool) {
        guard open != nil, hidden == nil else { return }
        message.add(page, text, hasReferences ? .content : .plain)
    }

    /// Ends the message that is open.
    mutating func finish() {
        guard let rank = open?.rank else { return }
        open = nil
        defer { message = HTMLMessage() }
        let text = message.text
        guard message.saysSomething, messages[rank].count < Self.most,
            !messages.joined().contains(where: { $0.utf8.elementsEqual(text.utf8) })
        else { return }
        messages[rank].append(text)
    }

    private func isHidden(_ tag: HTMLTagName, _ attributes: HTMLAttributes) -> Bool {
        switch tag.element {
        // A page that hides itself is shown by its script.
        case .html, .body: return false
        case .button, .datalist, .noscript, .template, .svg, .math: return true
        default: break
        }
        if attributes.has(.hidden) { return true }
        if let value = attributes[.ariaHidden], page.isText("true", value) { return true }
        let style = searchable(attributes[.style]).filter { !$0.isHTMLSpace }
        if style.contains("display:none") || style.contains("visibility:hidden") { return true }
        let classes = searchable(attributes[.class]).split { $0.isHTMLSpace }
        return Self.hidingClasses.contains { name in classes.contains { $0.elementsEqual(name.utf8) } }
    }

    /// The rank of an element that is a message; nil if it is none.
    private func rank(of tag: HTMLTagName, _ attributes: HTMLAttributes) -> Int? {
        switch tag.element {
        // Names of pages and forms speak of what they may hold.
        case .html, .body, .form, .title, .textarea, .option: return nil
        default: break
        }
        let names = [attributes[.class], attributes[.id], attributes[.role]].map { searchable($0) }
        return Self.ranks.firstIndex { words in words.contains { word in names.contains { $0.contains(word) } } }
    }

    private func searchable(_ range: Range<Int>?) -> [UInt8] {
        guard let range else { return [] }
        return range.prefix(Self.searched).map { page[$0].asciiLowercased }
    }
}

/// An element that has begun and not ended, known without those around it.
struct HTMLOpenElement {
    private let tag: HTMLTagName
    /// The open elements of the same name, this one counted.
    private var same = 1
    /// The open blocks within it.
    private var blocks = 0

    init(_ tag: HTMLTagName) {
        self.tag = tag
    }

    /// Notes a start tag.
    ///
    /// - Returns: whether it ends this element, as a block ends a paragraph (HTML §13.1.2.4).
    mutating func open(_ other: HTMLTagName, _ page: UnsafeRawBufferPointer) -> Bool {
        if tag.element == .p, other.element?.isBlock == true { return true }
        guard other.element?.isVoid != true else { return false }
        if other.equals(tag, in: page) {
            same += 1
        } else if other.element?.needsEnd == true {
            blocks += 1
        }
        return false
    }

    /// Notes an end tag.
    ///
    /// - Returns: whether it ends this element: as its own, or as that of a block around it.
    mutating func close(_ other: HTMLTagName, _ page: UnsafeRawBufferPointer) -> Bool {
        if other.equals(tag, in: page) {
            same -= 1
        } else if other.element?.needsEnd == true {
            blocks -= 1
        }
        return same == 0 || blocks < 0
    }
}

extension HTMLElement {
    /// Whether the element is a block whose end tag may not be left out.
    fileprivate var needsEnd: Bool {
        switch self {
        case .p, .li, .dd, .dt, .tr, .td, .th: false
        default: isBlock && !isVoid
        }
    }
}

extension [UInt8] {
    fileprivate func contains(_ word: String) -> Bool {
        let word = Array(word.utf8)
        guard count >= word.count else { return false }
        return (0...count - word.count).contains { start in word.indices.allSatisfy { self[start + $0] == word[$0] } }
    }
}
