import NevodHost

/// Asks the person at standard input and output. A program with windows shows a form instead.
struct Terminal: UserInteraction {
    func loginBegins(with scheme: String, at origins: [Origin]) async {
        print("\(scheme): logging in at \(origins.map(\.description).joined(separator: ", "))")
    }

    func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
        var answers: [String: Secret] = [:]
        for question in questions {
            print("\(question.prompt)?")
            guard let line = readLine() else { throw CancellationError() }
            answers[question.name] = Secret(line)
        }
        return answers
    }

    func show(_ text: String, url: String) async throws {
        print(text, url)
    }

    func open(_ url: String) async throws {
        print("Please open \(url)")
    }
}
