internal import NevodPluginKit

/// A recipe that has been read: steps in order. Ranges are of ``bytes``, so that a step costs a request no reference counting.
struct Recipe: Sendable {
    var steps: [Step] = []
    var parts: [Part] = []
    var filters: [Filter] = []
    /// Literals, names and arguments.
    var bytes: [UInt8] = []
    var slots: [Slot] = []
    /// The conditions of `when` lines that a request decides, each a conjunction of ``clauses``.
    var conditions: [Range<Int>] = []
    var clauses: [Clause] = []
    var acceptsUnboundSignature = false
    var acceptsUnsignedTime = false
    var acceptsUnsignedNonce = false

    /// The value of a step, by which others name it.
    struct Slot: Sendable {
        /// Nil for one that only the recipe itself uses.
        let name: Range<Int>?
        /// How often templates, filters and outputs read it.
        var uses = 0
        /// Whether it holds a secret, or is the key of an HMAC.
        var isSecret = false
        /// Whether it is a part of a text of lines, in which a control byte that came out of a decoding could forge a line.
        var isStrict = false
    }

    /// A concatenation's part, which is there without a computation and can't fail.
    enum Part: Sendable, Equatable {
        case literal(Range<Int>)
        case slot(Int)
        case request(RequestPart)
        case setting(SettingName)
    }

    /// A part of the request that is there as it is sent.
    enum RequestPart: Sendable, Equatable {
        case method, scheme, host, hostname, port, target, path, query, body
    }

    /// The settings that hold a text to be sent or signed.
    enum SettingName: String, CaseIterable, Sendable {
        case key, secret, passphrase, token, memo

        var isSecret: Bool { self != .key }
    }

    /// The input of a chain of filters.
    enum Source: Sendable, Equatable {
        case part(Part)
        /// A concatenation that goes straight into a hash function.
        case text(Range<Int>)
        case url
        /// From 1, or from the end if it is negative.
        case segment(Int)
        case queryItem(Range<Int>, isOptional: Bool)
        case formField(Range<Int>, isOptional: Bool)
        case jsonMember(Range<Int>, isOptional: Bool)
        case header(Range<Int>, isOptional: Bool)
        /// Names, each with a line feed behind it; an optional one has a `?` in front. One that ends with `*` stands for all that begin so.
        case headers(Range<Int>)
        case time(offset: Int64, TimeStyle)
        case nonce(NonceStyle)
    }

    enum Action: Sendable {
        /// The value of a chain of filters.
        case compute(Int, Source, Range<Int>)
        /// A concatenation of parts.
        case join(Int, Range<Int>)
        /// As `join`, where the value is read by one hash function alone, which reads the parts itself.
        case leave(Int, Range<Int>)
        /// Refuses the request with a text.
        case refuse(Range<Int>)
        /// Sends a value under a name.
        case send(Output, Range<Int>, Int)
    }

    enum Output: Sendable {
        case header, query, cookie
    }

    struct Step: Sendable {
        var action: Action
        /// The branch of a `when` that the step is in.
        let branch: Branch?
        let place: Place

        var isRefusal: Bool { if case .refuse = action { true } else { false } }
    }

    struct Branch: Sendable, Equatable {
        let condition: Int
        let isOtherwise: Bool
    }

    /// A line and a column, each from 1.
    struct Place: Sendable {
        let line: Int
        let column: Int
    }

    func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    /// The name of a slot, for people.
    func name(of slot: Int) -> String {
        slots[slot].name.map(text) ?? "a value"
    }
}

/// A fault of a recipe at a place.
struct RecipeError: Error {
    let place: Recipe.Place
    let problem: String

    func schemeError(_ setting: String) -> SchemeError {
        .badSetting(setting, "line \(place.line), column \(place.column): \(problem)")
    }
}
