internal import NevodPluginKit

/// A recipe that has been read: steps in order. Ranges refer to ``bytes``, so that a request's steps need no reference counting.
struct Recipe: Sendable {
    var steps: [Step] = []
    var parts: [Part] = []
    var filters: [Filter] = []
    /// Literals, names and arguments.
    var bytes: [UInt8] = []
    var slots: [Slot] = []
    /// The conditions of `when` lines that depend on the request, each a conjunction of ``clauses``.
    var conditions: [Range<Int>] = []
    var clauses: [Clause] = []
    var acceptsUnboundSignature = false
    var acceptsUnsignedTime = false
    var acceptsUnsignedNonce = false

    /// The value of a step. Other steps refer to it by its index.
    struct Slot: Sendable {
        /// Nil for a value without a name.
        let name: Range<Int>?
        /// The number of templates, filters and outputs that read it.
        var uses = 0
        /// Whether it holds a secret, or is the key of an HMAC.
        var isSecret = false
        /// Whether it becomes part of lines, so that a decoded control byte could forge a line.
        var isStrict = false
    }

    /// A part of a concatenation. It is available without a computation and can't fail.
    enum Part: Sendable, Equatable {
        case literal(Range<Int>)
        case slot(Int)
        case request(RequestPart)
        case setting(SettingName)
    }

    /// A part of the request, as it is sent.
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
        /// A concatenation that is fed directly to a hash function.
        case text(Range<Int>)
        case url
        /// Counts from 1, or from the end if negative.
        case segment(Int)
        case queryItem(Range<Int>, isOptional: Bool)
        case formField(Range<Int>, isOptional: Bool)
        case jsonMember(Range<Int>, isOptional: Bool)
        case header(Range<Int>, isOptional: Bool)
        /// Names, each followed by a line feed. An optional name has a leading `?`. A name that ends with `*` means all names with
        /// that prefix.
        case headers(Range<Int>)
        case time(offset: Int64, TimeStyle)
        case nonce(NonceStyle)
    }

    enum Action: Sendable {
        /// The value of a chain of filters.
        case compute(Int, Source, Range<Int>)
        /// A concatenation of parts.
        case join(Int, Range<Int>)
        /// Like `join`, but only one hash function reads the value, and it reads the parts directly.
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

/// A fault in a recipe, with its place.
struct RecipeError: Error {
    let place: Recipe.Place
    let problem: String

    func schemeError(_ setting: String) -> SchemeError {
        .badSetting(setting, "line \(place.line), column \(place.column): \(problem)")
    }
}
