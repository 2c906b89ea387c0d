import NevodHostFoundation

func signInAndWork(issuer: String) async throws {
    let session = try Session(storage: InMemoryStorage(), issuer: issuer)
    do {
        let _: Profile = try await session.provider.get("/users/me")
    } catch NetworkError.unauthorized {
        print("nobody is signed in")
    }

    try await session.signIn(email: "ada@example.com", password: "correct horse")
    let signOut = Task { [changes = session.storage.changes] in
        for await token in changes where token == nil { return }
    }
    let profile: Profile = try await session.provider.get("/users/me")
    print(profile.name)

    // The token has expired: ten requests are rejected, one renewal follows, and all ten succeed.
    try await tellServer("/access")
    let names = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 1...10 {
            group.addTask {
                let profile: Profile = try await session.provider.get("/users/me")
                return profile.name
            }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
    print(names.count)

    // The token endpoint fails once. The session survives.
    try await tellServer("/availability")
    do {
        let _: Profile = try await session.provider.get("/users/me")
    } catch let error as NetworkError {
        print(advice(on: error))
    }
    let again: Profile = try await session.provider.get("/users/me")
    print(again.name)

    // The user has revoked the grant elsewhere.
    try await tellServer("/grant")
    do {
        let _: Profile = try await session.provider.get("/users/me")
    } catch let error as NetworkError {
        print(advice(on: error))
    }
    await signOut.value
    print("signed out")

    try await session.signIn(email: "ada@example.com", password: "correct horse")
    try await session.signOut()
    print(try await session.storage.load() == nil)
}

/// Triggers an event at the server.
private func tellServer(_ path: String) async throws {
    let _: EmptyResponse = try await NetworkProvider.quick(baseURL: "http://api.example.com").delete(path)
}
