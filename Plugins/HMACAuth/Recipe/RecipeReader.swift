internal import NevodPluginKit
internal import NevodSupport

/// Reads a recipe's statements, one per line, into steps.
struct RecipeReader {
    var recipe = Recipe()
    /// Whether there was no statement at all.
    private(set) var isEmpty = true
    /// Whether there was a statement other than `accept`.
    private(set) var hasStatements = false
    /// Whether the templates come from settings. There, two combinations of a value and a filter have names of their own.
    var isShortForm = false
    /// Whether a setting has a value that isn't empty.
    let isGiven: (Recipe.SettingName) -> Bool
    var names: [Definition] = []
    /// The names that are used, even if only an excluded branch uses them.
    var used: Set<[UInt8]> = []
    private var block: Block?

    static let largest = 32 << 10
    private static let mostSteps = 256

    /// A name and the branch where it was defined.
    struct Definition {
        let name: [UInt8]
        let slot: Int
        let branch: Recipe.Branch?
        let line: Int
    }

    /// A `when` whose `end` hasn't been read yet.
    private struct Block {
        let line: Int
        var branch: Recipe.Branch?
        /// Whether the settings exclude the current branch; below, whether they exclude the one after `otherwise`.
        var isExcluded: Bool
        let isOtherwiseExcluded: Bool
        var isOtherwise = false
        /// The names that both branches may use.
        let names: [Definition]
        /// The state before an excluded branch, to restore it afterwards.
        var before: (recipe: Recipe, names: [Definition])?
    }

    init(isGiven: @escaping (Recipe.SettingName) -> Bool) {
        self.isGiven = isGiven
    }

    // MARK: Statements

    /// Reads a whole text.
    mutating func read(_ text: [UInt8]) throws(RecipeError) {
        var start = 0
        var line = 1
        while start <= text.count {
            let end = text[start...].firstIndex(of: UInt8(ascii: "\n")) ?? text.count
            try read(line: Self.trimmed(text[start..<end]), number: line, start: start)
            (start, line) = (end + 1, line + 1)
        }
        if let block {
            throw RecipeError(place: Recipe.Place(line: block.line, column: 1), problem: "this \"when\" has no \"end\"")
        }
    }

    private mutating func read(line: ArraySlice<UInt8>, number: Int, start: Int) throws(RecipeError) {
        guard let first = line.first, first != UInt8(ascii: "#") else { return }
        var text = TemplateText(line, line: number, lineStart: start)
        let word = line.prefix { !$0.isBlankOrLineBreak }
        let rest = Self.trimmed(line[word.endIndex...])
        isEmpty = false
        if !word.elementsEqual("accept".utf8) { hasStatements = true }
        switch String(decoding: word, as: UTF8.self) {
        case "let":
            let (name, template) = try Self.named(rest, text, "let NAME = TEMPLATE")
            try define(name, TemplateText(template, line: number, lineStart: start))
        case "header":
            let (name, template) = try Self.named(rest, text, "header NAME = TEMPLATE")
            guard name.allSatisfy({ $0.isTokenByte }) else {
                throw text.error("a header's name has letters, digits and hyphens (RFC 9110 §5.6.2)", at: name.startIndex)
            }
            try send(.header, name, TemplateText(template, line: number, lineStart: start))
        case "query":
            let (name, template) = try Self.named(rest, text, "query NAME = TEMPLATE")
            guard name.allSatisfy({ $0 != 0x20 && !$0.isControl }) else {
                throw text.error("a query item's name has no spaces and no control characters", at: name.startIndex)
            }
            try send(.query, name, TemplateText(template, line: number, lineStart: start))
        case "cookie":
            let (name, template) = try Self.named(rest, text, "cookie NAME = TEMPLATE")
            guard name.allSatisfy({ $0.isTokenByte }) else {
                throw text.error("a cookie's name has letters, digits and hyphens (RFC 6265 §4.1.1)", at: name.startIndex)
            }
            try send(.cookie, name, TemplateText(template, line: number, lineStart: start))
        case "when":
            if let block {
                throw text.error("\"when\" in the \"when\" of line \(block.line); write \"end\" before it, or join with \"and\"")
            }
            try begin(rest, text)
        case "otherwise":
            guard block != nil, rest.isEmpty else {
                throw text.error("\"otherwise\" must be alone on its line, after a \"when\"")
            }
            try turn(text)
        case "end":
            guard block != nil, rest.isEmpty else { throw text.error("\"end\" must be alone on its line, after a \"when\"") }
            leaveBranch()
            block = nil
        case "refuse":
            guard let block, !rest.isEmpty else {
                throw text.error("write refuse with a text that says why, after a \"when\"", at: rest.startIndex)
            }
            if block.isExcluded { break }
            // Only the settings decide this branch.
            guard block.branch != nil else {
                throw text.error(String(decoding: rest, as: UTF8.self), at: rest.startIndex)
            }
            try add(.refuse(store(Array(rest))), text.place(of: line.startIndex))
        case "accept":
            guard block == nil else { throw text.error("\"accept\" holds for the whole recipe; write it outside of \"when\"") }
            switch String(decoding: rest, as: UTF8.self) {
            case "unbound-signature": recipe.acceptsUnboundSignature = true
            case "unsigned-time": recipe.acceptsUnsignedTime = true
            case "unsigned-nonce": recipe.acceptsUnsignedNonce = true
            default:
                throw text.error("\"accept\" takes unbound-signature, unsigned-time or unsigned-nonce", at: rest.startIndex)
            }
        default:
            _ = text.next()
            throw text.error(
                "a line begins with let, header, query, cookie, when, otherwise, end, refuse, accept or #, not with "
                    + "\"\(String(decoding: word.prefix(40), as: UTF8.self))\"", at: line.startIndex)
        }
    }

    private static func named(
        _ rest: ArraySlice<UInt8>, _ text: TemplateText, _ form: String
    ) throws(RecipeError) -> (name: ArraySlice<UInt8>, template: ArraySlice<UInt8>) {
        guard let equals = rest.firstIndex(of: UInt8(ascii: "=")) else { throw text.error("write it as \(form)") }
        let name = trimmed(rest[..<equals])
        guard !name.isEmpty else { throw text.error("write it as \(form)", at: equals) }
        return (name, trimmed(rest[(equals + 1)...]))
    }

    static func trimmed(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> { text.trimmed { $0.isBlankOrLineBreak } }

    // MARK: Names and outputs

    /// Defines a name that templates may use from here on.
    mutating func define(_ name: ArraySlice<UInt8>, _ template: TemplateText) throws(RecipeError) {
        let place = template.place(of: name.startIndex)
        guard name.isContractName else {
            throw RecipeError(place: place, problem: "a name has a-z, 0-9 and -, and begins with a letter")
        }
        guard !TemplateReader.isReserved(Array(name)) else {
            throw RecipeError(
                place: place, problem: "\(String(decoding: name, as: UTF8.self)) is the name of a value; choose another one")
        }
        let others = names.filter { $0.name.elementsEqual(name) }
        if let other = others.first(where: { !Self.areExclusive($0.branch, branch) }) {
            throw RecipeError(
                place: place, problem: "\(String(decoding: name, as: UTF8.self)) is already defined in line \(other.line)")
        }
        let slot = others.first?.slot ?? addSlot(named: store(Array(name)))
        try fill(slot, template)
        names.append(Definition(name: Array(name), slot: slot, branch: branch, line: template.line))
    }

    /// Defines a name of the short form. Errors don't name its place.
    mutating func define(_ name: String, _ template: String) throws(RecipeError) {
        let (name, template) = (Array(name.utf8), Array(template.utf8))
        try define(name[...], TemplateText(template[...], line: 1, lineStart: 0))
    }

    /// Sends the value of a template.
    mutating func send(_ output: Recipe.Output, _ name: ArraySlice<UInt8>, _ template: TemplateText) throws(RecipeError) {
        let slot = try value(of: template)
        try add(.send(output, store(Array(name)), slot), template.place(of: name.startIndex))
    }

    /// Sends the value of a template under a name of the short form.
    mutating func send(_ output: Recipe.Output, _ name: String, _ template: String) throws(RecipeError) {
        let (name, template) = (Array(name.utf8), Array(template.utf8))
        try send(output, name[...], TemplateText(template[...], line: 1, lineStart: 0))
    }

    /// Returns the slot of a name, and marks the name as used; nil for an unknown name.
    mutating func slot(named name: [UInt8]) -> Int? {
        used.insert(name)
        return names.last { $0.name == name && !Self.areExclusive($0.branch, branch) }?.slot
    }

    /// The names that a template may use here.
    var definedNames: [String] {
        var known: [String] = []
        for definition in names {
            let name = String(decoding: definition.name, as: UTF8.self)
            if !known.contains(where: { $0.utf8.elementsEqual(name.utf8) }) { known.append(name) }
        }
        return known
    }

    /// Whether no request takes both branches.
    private static func areExclusive(_ left: Recipe.Branch?, _ right: Recipe.Branch?) -> Bool {
        guard let left, let right else { return false }
        return left.condition == right.condition && left.isOtherwise != right.isOtherwise
    }

    // MARK: Steps

    /// Whether the line is in a branch that the settings exclude. Such a branch may use settings that aren't given.
    var isExcluded: Bool { block?.isExcluded ?? false }

    private var branch: Recipe.Branch? { block?.branch }

    mutating func add(_ action: Recipe.Action, _ place: Recipe.Place) throws(RecipeError) {
        guard recipe.steps.count < Self.mostSteps else {
            throw RecipeError(place: place, problem: "the recipe has more than \(Self.mostSteps) steps")
        }
        recipe.steps.append(Recipe.Step(action: action, branch: branch, place: place))
    }

    mutating func addSlot(named name: Range<Int>? = nil) -> Int {
        recipe.slots.append(Recipe.Slot(name: name))
        return recipe.slots.count - 1
    }

    /// Keeps bytes for the requests.
    mutating func store(_ bytes: [UInt8]) -> Range<Int> {
        recipe.bytes += bytes
        return recipe.bytes.count - bytes.count..<recipe.bytes.count
    }

    mutating func store(_ filters: [Filter]) -> Range<Int> {
        recipe.filters += filters
        return recipe.filters.count - filters.count..<recipe.filters.count
    }

    mutating func store(_ parts: [Recipe.Part]) -> Range<Int> {
        recipe.parts += parts
        return recipe.parts.count - parts.count..<recipe.parts.count
    }

    /// The slot of a template's value. If the template is only a name, it is that name's slot.
    private mutating func value(of template: TemplateText) throws(RecipeError) -> Int {
        let pieces = try TemplateReader.pieces(of: template, &self)
        if pieces.count == 1, case .value(.part(.slot(let slot)), let filters, _) = pieces[0], filters.isEmpty { return slot }
        let slot = addSlot()
        try fill(slot, pieces, template.place)
        return slot
    }

    private mutating func fill(_ slot: Int, _ template: TemplateText) throws(RecipeError) {
        try fill(slot, TemplateReader.pieces(of: template, &self), template.place)
    }

    /// Adds the steps that compute a slot. Each filtered value gets its own step, so that a concatenation computes nothing.
    private mutating func fill(
        _ slot: Int, _ pieces: [TemplateReader.Piece], _ place: Recipe.Place
    ) throws(RecipeError) {
        if pieces.count == 1, case .value(let source, let filters, let place) = pieces[0] {
            if case .part(let part) = source, filters.isEmpty { return try add(.join(slot, store([part])), place) }
            return try add(.compute(slot, source, store(filters)), place)
        }
        var parts: [Recipe.Part] = []
        for piece in pieces {
            switch piece {
            case .literal(let range): parts.append(.literal(range))
            case .value(.part(let part), let filters, _) where filters.isEmpty: parts.append(part)
            case .value(let source, let filters, let place):
                let own = addSlot()
                try add(.compute(own, source, store(filters)), place)
                parts.append(.slot(own))
            }
        }
        try add(.join(slot, store(parts)), place)
    }

    // MARK: Conditions

    private mutating func begin(_ text: ArraySlice<UInt8>, _ line: TemplateText) throws(RecipeError) {
        var clauses: [Clause] = []
        var isExcluded = false
        var words = text.split(whereSeparator: { $0.isBlankOrLineBreak })[...]
        if let last = words.last, last.elementsEqual("and".utf8) {
            throw line.error("no condition after \"and\"", at: last.startIndex)
        }
        repeat {
            let clause = words.prefix { !$0.elementsEqual("and".utf8) }
            words = words.dropFirst(clause.count + 1)
            switch try condition(Array(clause), line) {
            case .fact(let clause): clauses.append(clause)
            case .known(let isTrue): isExcluded = isExcluded || !isTrue
            }
        } while !words.isEmpty
        // If no fact of the request is involved, the settings alone decide.
        var branch: Recipe.Branch?
        if !isExcluded, !clauses.isEmpty {
            branch = Recipe.Branch(condition: try index(of: clauses, line), isOtherwise: false)
        }
        block = Block(
            line: line.line, branch: branch, isExcluded: isExcluded, isOtherwiseExcluded: !isExcluded && clauses.isEmpty,
            names: names)
        enterBranch()
    }

    private mutating func turn(_ line: TemplateText) throws(RecipeError) {
        leaveBranch()
        guard var block, !block.isOtherwise else { throw line.error("a second \"otherwise\"") }
        block.isOtherwise = true
        block.isExcluded = block.isOtherwiseExcluded
        block.branch = block.branch.map { Recipe.Branch(condition: $0.condition, isOtherwise: true) }
        self.block = block
        enterBranch()
    }

    private mutating func enterBranch() {
        guard let block, block.isExcluded else { return }
        self.block?.before = (recipe, names)
        names = block.names
    }

    private mutating func leaveBranch() {
        if let before = block?.before { (recipe, names) = before }
        block?.before = nil
    }
}
