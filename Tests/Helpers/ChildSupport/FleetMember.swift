import Foundation
package import NevodHost

/// A process of a fleet. All processes of a fleet use the same sessions.
package struct FleetMember {
    private let url: String
    private let plain: NetworkProvider
    private let providers: [NetworkProvider]

    package init(_ storage: some KeyValueStorage, url: String, sessions: Int) {
        let session = CurlSession()
        let plain = NetworkProvider(session: session)
        self.url = url
        self.plain = plain
        providers = (0..<sessions).map { number in
            let tokens = TokenStorage<OAuthToken>(storage: storage, key: StorageKey(rawValue: "session-\(number)"))
            return NetworkProvider(
                session: session,
                interceptor: AuthenticationInterceptor(
                    tokenStorage: tokens, refreshStrategy: { try await Self.exchange($0, plain, url) }))
        }
    }

    /// Prints "ready", the outcome of each request, and the end of each round.
    ///
    /// - Parameter isPatient: whether to repeat a request while the store or the server is away.
    package func run(_ rounds: ClosedRange<Int>, isPatient: Bool = false) async throws {
        say("ready")
        for round in rounds {
            _ = try await plain.send(HTTPRequest(.get, "\(url)/control/await/\(round)"))
            await withTaskGroup(of: String.self) { group in
                for number in providers.indices { group.addTask { "\(number) \(await send(number, isPatient: isPatient))" } }
                for await line in group { say(line) }
            }
            say("done \(round)")
        }
        // A token that can't be saved yet would be lost with the process, which is killed when the test has its outcomes.
        if isPatient { try await Task.sleep(for: .seconds(120)) }
    }

    private func send(_ number: Int, isPatient: Bool) async -> String {
        let deadline = ContinuousClock.now + .seconds(isPatient ? 90 : 0)
        while true {
            let outcome = await send(number)
            // A dead session stays dead.
            let isFinal = outcome == "ok" || outcome == "401" || outcome.contains("unauthorized")
            if isFinal || ContinuousClock.now >= deadline { return outcome }
            try? await Task.sleep(for: .milliseconds(100))
        }
    }

    private func send(_ number: Int) async -> String {
        do {
            let response = try await providers[number].send(HTTPRequest(.get, "\(url)/api"))
            let body = String(decoding: try await response.body.collect(), as: UTF8.self)
            return response.status == 200 && body == "session-\(number)" ? "ok" : "\(response.status)"
        } catch {
            return "\(error)".replacing("\n", with: " ")
        }
    }

    private static func exchange(_ old: OAuthToken?, _ provider: NetworkProvider, _ url: String) async throws -> OAuthToken {
        guard let refreshToken = old?.refreshToken else { throw NetworkError.unauthorized }
        let form = "grant_type=refresh_token&client_id=fleet&refresh_token=\(refreshToken)"
        var request = try HTTPRequest(.post, "\(url)/token", body: .bytes(Array(form.utf8)))
        try request.setHeader("Content-Type", "application/x-www-form-urlencoded")
        try request.setHeader("X-Process", "\(ProcessInfo.processInfo.processIdentifier)")
        let response = try await provider.send(request)
        let body = try await response.body.collect()
        guard response.status == 200 else {
            if response.status >= 500 { throw NetworkError.serverError(response.status, data: body, response: response) }
            throw NetworkError.clientError(response.status, data: body, response: response)
        }
        return try JSONDecoder().decode(OAuthToken.self, from: Data(body))
    }
}
