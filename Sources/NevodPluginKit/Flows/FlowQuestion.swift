internal import NevodPluginABI

/// What a flow has to know from a person.
public struct FlowQuestion: Sendable {
    enum Kind {
        case text, secret, code
        case choice([String])
    }

    let kind: Kind
    let name: String
    let prompt: String

    /// - Parameters:
    ///   - name: the answer's name: `a-z`, `0-9` and `-`, beginning with a letter.
    ///   - prompt: one line: `User name`.
    public static func text(_ name: String, _ prompt: String) -> FlowQuestion {
        FlowQuestion(kind: .text, name: name, prompt: prompt)
    }

    /// A password: not echoed.
    public static func secret(_ name: String, _ prompt: String) -> FlowQuestion {
        FlowQuestion(kind: .secret, name: name, prompt: prompt)
    }

    /// A one-time code: echoed, never remembered.
    public static func code(_ name: String, _ prompt: String) -> FlowQuestion {
        FlowQuestion(kind: .code, name: name, prompt: prompt)
    }

    /// One of several texts.
    ///
    /// - Parameters:
    ///   - name: as of ``text(_:_:)``.
    ///   - prompt: one line.
    ///   - choices: at least one, at most 64.
    public static func choice(_ name: String, _ prompt: String, _ choices: [String]) -> FlowQuestion {
        FlowQuestion(kind: .choice(choices), name: name, prompt: prompt)
    }
}

extension FlowQuestion.Kind {
    /// As the contract counts them, and the choices.
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
