import NevodSupport
import NevodTestSupport

@testable import NevodHost

/// A test's simulated person, who can do everything unless the test says otherwise.
struct FlowPerson: UserInteraction {
    var can: @Sendable (UserAction) -> Bool = { _ in true }
    var error: (any Error)?
    var answers: [String: Secret] = [:]
    let seen = Collected<String>()
    var onOpen: @Sendable (String) async throws -> Void = { _ in }

    func supports(_ action: UserAction) -> Bool { can(action) }
    func error(forUnsupported actions: [UserAction]) -> (any Error)? {
        for action in actions { seen.append("unsupported \(action)") }
        return error
    }
    func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
        seen.append("asked \(questions.map(\.name))")
        return answers
    }
    func show(_ text: String, url: String) async throws { seen.append("shown \(text) \(url)") }
    func open(_ url: String) async throws {
        seen.append("opened")
        try await onOpen(url)
    }
}
