/// An action that a flow tried, and that this host can't perform.
struct UnsupportedAction: Sendable {
    /// The missing things, as words for a message: the names of questions, or `browser`.
    let wanted: [String]
    /// The same for a person's interaction; nil for an action that is unknown to it.
    let action: UserAction?

    init(_ action: UserAction) {
        self.action = action
        switch action {
        case .answer(let questions): wanted = questions.map(\.name)
        case .show(_, let url): wanted = [url.isEmpty ? "show" : "browser"]
        case .open: wanted = ["browser"]
        }
    }

    init(_ wanted: [String]) {
        self.wanted = wanted
        action = nil
    }

    init(_ wanted: String) {
        self.init([wanted])
    }
}
