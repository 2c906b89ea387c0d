import NevodHostFoundation

enum MyDomain: ServiceDomain {
    case api
    var identifier: String { "api" }
}

struct LoginResponse: Decodable {
    let accessToken: String
}

class AuthService {
    private let provider: NetworkProvider
    private let tokenStorage: TokenStorage<Token>

    init(provider: NetworkProvider, tokenStorage: TokenStorage<Token>) {
        self.provider = provider
        self.tokenStorage = tokenStorage
    }

    func login(email: String, password: String) async throws {
        let route = SimplePostRoute<LoginResponse, MyDomain>(
            endpoint: "/auth/login",
            domain: .api,
            parameters: ["email": email, "password": password]
        )

        let response = try await provider.perform(route)

        let token = Token(value: response.accessToken)
        try await tokenStorage.save(token)
    }

    func logout() async throws {
        try await tokenStorage.clear()
    }

    func isAuthenticated() async throws -> Bool {
        try await tokenStorage.load() != nil
    }
}

func loginAndLogout() async throws {
    let provider = NetworkProvider(
        config: NetworkConfig(environments: [MyDomain.api: SimpleEnvironment(baseURL: "http://api.example.com")]))
    let service = AuthService(provider: provider, tokenStorage: TokenStorage<Token>(storage: InMemoryStorage()))
    do {
        try await service.login(email: "ada@example.com", password: "wrong")
    } catch NetworkError.clientError(403, _, _) {
        print("wrong password; authenticated: \(try await service.isAuthenticated())")
    }
    try await service.login(email: "ada@example.com", password: "correct horse")
    print("authenticated: \(try await service.isAuthenticated())")
    try await service.logout()
    print("authenticated: \(try await service.isAuthenticated())")
}
