/// A parameter that a caller may attach to a request, such as the `scope` of the token that it needs. (A ``Setting``, in contrast, has
/// one value for all requests.)
///
/// ```swift
/// static let parameters = [
///     ParameterDeclaration("scope", isRepeatable: true, help: "What the request may do"),
///     ParameterDeclaration("acr", .choice, choices: ["low", "high"], default: "low", help: "How sure the login must be"),
/// ]
/// ```
///
/// The host checks the values. A scheme reads them by ``RequestView/parameter(_:)`` and ``AuthFlow/parameter(_:)``, and gets a token
/// of its own for each set of values.
public struct ParameterDeclaration: Sendable {
    let declaration: SettingDeclaration

    /// - Parameters:
    ///   - name: `a-z`, `0-9` and `-`, beginning with a letter.
    ///   - kind: the form that the host checks values for.
    ///   - choices: the values of a ``SettingKind/choice``.
    ///   - default: the value of requests without one; empty for none.
    ///   - isRequired: whether the host refuses a request without a value.
    ///   - isRepeatable: whether it may have several values, in order.
    ///   - help: one line, without a full stop.
    public init(
        _ name: StaticString, _ kind: SettingKind = .text, choices: [String] = [], default: String = "",
        isRequired: Bool = false, isRepeatable: Bool = false, help: StaticString
    ) {
        var flags: SettingFlags = []
        if isRequired { flags.insert(.required) }
        if isRepeatable { flags.insert(.repeatable) }
        declaration = SettingDeclaration(
            name: name, help: help, kind: kind, flags: flags, choices: choices, defaultText: `default`)
    }
}
