internal import NevodPluginABI
public import NevodSupport

/// A question to the user.
public struct FlowQuestion: Sendable {
    enum Kind {
        case text, secret, code
        case choice([String])
    }

    let kind: Kind
    let name: String
    let prompt: String

    /// A question with a visible answer.
    ///
    /// - Parameters:
    ///   - name: the answer's name: `a-z`, `0-9` and `-`, beginning with a letter.
    ///   - prompt: one line: `User name`.
    public static func text(_ name: String, _ prompt: String) -> FlowQuestion {
        FlowQuestion(kind: .text, name: name, prompt: prompt)
    }

    /// A password, which isn't echoed.
    public static func secret(_ name: String, _ prompt: String) -> FlowQuestion {
        FlowQuestion(kind: .secret, name: name, prompt: prompt)
    }

    /// A one-time code, which is echoed and never stored.
    public static func code(_ name: String, _ prompt: String) -> FlowQuestion {
        FlowQuestion(kind: .code, name: name, prompt: prompt)
    }

    /// A choice among texts.
    ///
    /// - Parameters:
    ///   - name: the answer's name, as in ``text(_:_:)``.
    ///   - prompt: one line.
    ///   - choices: at least one, at most 64.
    public static func choice(_ name: String, _ prompt: String, _ choices: [String]) -> FlowQuestion {
        FlowQuestion(kind: .choice(choices), name: name, prompt: prompt)
    }
}

extension FlowQuestion.Kind {
    /// The kind's number in the contract.
    var number: Int32 {
        switch self {
        case .text: Int32(NEVOD_QUESTION_TEXT)
        case .secret: Int32(NEVOD_QUESTION_SECRET)
        case .code: Int32(NEVOD_QUESTION_CODE)
        case .choice: Int32(NEVOD_QUESTION_CHOICE)
        }
    }

    var choices: [String] {
        if case .choice(let choices) = self { choices } else { [] }
    }
}

/// The browser's request at a redirect URI.
///
/// Any program on the machine may have sent it, and any web page may have posted the form. So check its proof, such as `state`. If
/// it has no proof, call ``AuthFlow/browseToRedirect(_:)`` again.
public struct FlowRedirect: Sendable {
    /// The requested URL, with its query.
    public let url: String
    /// The form that the browser posted; empty if ``AuthFlow/listen(path:host:port:formPost:)`` didn't ask for a form. A secret,
    /// because it may hold a code or a token.
    public let body: Secret

    init(_ event: nevod_event) {
        url = event.url.string
        body = Secret(copying: event.body.buffer)
    }

    /// The decoded fields of ``body``. Their texts are not wiped.
    public var form: FormFields { FormFields(parsing: String(revealing: body)) }
}

extension String {
    /// Copies a secret's bytes, read as UTF-8. The string's memory is not wiped, so use it for a user's name but not for a
    /// password.
    public init(revealing secret: Secret) {
        self = secret.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
