import NevodSessions

typealias TokenStorage = SessionStorage<User>

func useSession(at baseURL: String, keptIn files: some KeyValueStorage, sealedBy key: any StoreKeySource) async throws {
    let storage = TokenStorage(storage: try await SealingStorage(files, key: key))
    let tokenProvider = DefaultTokenProvider(tokenStorage: storage, baseURL: baseURL)
    let (endings, ending) = AsyncStream.makeStream(of: Void.self)
    let client = AuthenticatingHTTPClient(
        baseURL: baseURL, tokenProvider: tokenProvider, onSessionInvalidated: { ending.yield() })

    let state = await AuthState(service: AuthService(client: client), tokenStorage: storage)
    await state.restoreSession()
    await state.login(email: "ada@example.com", password: "wrong")
    if let error = await state.error { print(error) }
    await state.login(email: "ada@example.com", password: "correct horse")
    print(await state.user?.name ?? "nobody")

    // The access token expires: ten requests are refused, one renewal follows, and all ten succeed.
    try await tellServer("expire", client)
    let sports = SportsService(client: client)
    let lists = try await withThrowingTaskGroup(of: [String].self) { group in
        for _ in 1...10 { group.addTask { try await sports.names() } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
    print(lists.count, lists.last ?? [])

    try await sports.remove("ski & run")
    let bytes = try await sports.upload([UInt8](repeating: 7, count: 100_000)) { progress in
        if progress.fraction == 1 { print("uploaded") }
    }
    print(bytes)

    // The app was in the background. A second state represents its next start.
    let next = await AuthState(service: AuthService(client: client), tokenStorage: storage)
    await next.restoreSession()
    print(await next.user?.name ?? "nobody")
    print("renewed:", await next.refreshIfNeeded())

    // The server ends the session.
    let changes = await state.changes
    try await tellServer("revoke", client)
    do {
        _ = try await sports.names()
    } catch NetworkError.unauthorized {
        print("please sign in")
    }
    for await _ in endings {
        print("the server has ended the session")
        break
    }
    for await status in changes where !status.isLoggedIn {
        print(status.error?.description ?? "logged out")
        break
    }
    print(try await storage.load() == nil)
}

/// Triggers an event at the server.
private func tellServer(_ event: String, _ client: some HTTPClient) async throws {
    _ = try await client.send(Endpoint<EmptyResponse>.post("/events/\(event)"))
}
