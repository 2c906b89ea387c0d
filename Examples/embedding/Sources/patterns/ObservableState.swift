import NevodSessions
import Observation

func watch(_ client: JWTAuthClient, show: (String) -> Void) async {
    for await session in client.sessions {
        switch session {
        case .missing: show("please log in")
        case .expired: show("one moment")
        case .valid(let tokens): show("hello, \(tokens[string: "name"] ?? "you")")
        }
    }
}

enum LoadingState<Value: Sendable>: Sendable {
    case idle
    case loading
    case loaded(Value)
    case failed(any Error)
}

@MainActor @Observable
final class AuthenticatedState<Value: Sendable> {
    private(set) var state = LoadingState<Value>.idle
    @ObservationIgnored private let client: JWTAuthClient
    @ObservationIgnored private let loader: @Sendable (JWTAuthClient) async throws -> Value

    init(client: JWTAuthClient, loader: @escaping @Sendable (JWTAuthClient) async throws -> Value) {
        self.client = client
        self.loader = loader
    }

    func loadData() async {
        state = .loading
        do { state = .loaded(try await loader(client)) } catch { state = .failed(error) }
    }
}
