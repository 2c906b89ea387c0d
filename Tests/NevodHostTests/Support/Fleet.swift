import Foundation
import NevodHost
import NevodSupport
import Testing

/// Processes that share the sessions of one store, before a server that ends a session when a refresh token comes back.
struct Fleet {
    private struct Child {
        let pid: pid_t
        let pipe: Int32
        let lines: LineReader

        init(_ started: (pid: pid_t, pipe: Int32)) {
            (pid, pipe) = started
            lines = LineReader(pipe)
        }

        /// What came of each session's request, up to the end of the round, or to so many.
        func answers(_ count: Int = .max) -> [Int: String] {
            var answers: [Int: String] = [:]
            while answers.count < count, let line = lines.next(), !line.hasPrefix("done") {
                let words = line.split(separator: " ", maxSplits: 1)
                if let number = words.first.flatMap({ Int($0) }) { answers[number] = words.count > 1 ? String(words[1]) : "" }
            }
            return answers
        }

        func end() {
            kill(pid, SIGKILL)
            Command.wait(for: pid)
            close(pipe)
        }
    }

    private struct Counts: Equatable {
        var exchanges: Int
        /// For one session.
        var most: Int
        var reuses: Int
        var alive: Int
    }

    private let server: ProbeServer
    private let provider = NetworkProvider(session: CurlSession())
    private let storage: any KeyValueStorage
    private let spawn: (_ words: [String]) throws -> (pid: pid_t, pipe: Int32)

    /// - Parameters:
    ///   - folder: for the server.
    ///   - storage: what the processes share.
    ///   - spawn: starts one that opens the same store; the words are those behind `fleet STORE`.
    init(
        _ folder: TemporaryFolder, _ storage: some KeyValueStorage,
        spawn: @escaping (_ words: [String]) throws -> (pid: pid_t, pipe: Int32)
    ) async throws {
        server = try await ProbeServer.start("rotating", [folder.makeFolder("server")])
        self.storage = storage
        self.spawn = spawn
    }

    private func child(_ sessions: Int, _ rounds: ClosedRange<Int>) throws -> Child {
        Child(try spawn([server.url, "\(sessions)", "\(rounds.lowerBound)", "\(rounds.upperBound)"]))
    }

    private func control(_ what: String) async throws -> String {
        let response = try await provider.send(HTTPRequest(.get, "\(server.url)/control/\(what)"))
        let body = String(decoding: try await response.body.collect(), as: UTF8.self)
        try #require(response.status == 200, "\(what): \(body)")
        return body
    }

    private func counts() async throws -> Counts {
        let numbers = try await control("counts").split(separator: " ").compactMap { Int($0) }
        return Counts(exchanges: numbers[0], most: numbers[1], reuses: numbers[2], alive: numbers[3])
    }

    private func logIn(_ number: Int) async throws {
        try await logIn(number, in: storage)
    }

    private func logIn(_ number: Int, in storage: some KeyValueStorage) async throws {
        let answer = try await control("login/session-\(number)")
        let tokens = TokenStorage<OAuthToken>(storage: storage, key: StorageKey(rawValue: "session-\(number)"))
        try await tokens.save(JSONDecoder().decode(OAuthToken.self, from: Data(answer.utf8)))
    }

    /// Each expiry of all sessions costs one exchange each, and no family.
    func survive(processes: Int, sessions: Int, rounds: Int) async throws {
        for number in 0..<sessions { try await logIn(number) }
        let children = try (0..<processes).map { _ in try child(sessions, 1...rounds) }
        defer { for child in children { child.end() } }
        for round in 1...rounds {
            _ = try await control("expire")
            _ = try await control("open/\(round)")
            for child in children {
                let answers = child.answers()
                #expect(answers == Dictionary(uniqueKeysWithValues: (0..<sessions).map { ($0, "ok") }), "round \(round)")
            }
            #expect(
                try await counts() == Counts(exchanges: sessions * round, most: round, reuses: 0, alive: sessions),
                "round \(round)")
        }
    }

    /// Kills one of three in its exchange, again and again: that costs at most the one session, and the others say so.
    func surviveKills() async throws {
        let sessions = 20
        for number in 0..<sessions { try await logIn(number) }
        let rounds = environment("NEVOD_FLEET_ROUNDS").flatMap { Int($0) } ?? 6
        var children: [Child] = []
        defer { for child in children { child.end() } }
        var lost = 0
        for round in 1...rounds {
            while children.count < 3 { children.append(try child(sessions, round...rounds)) }
            let isMade = round.isMultiple(of: 2)
            _ = try await control("hold/\(isMade ? "after" : "instead")")
            _ = try await control("expire")
            _ = try await control("open/\(round)")
            let held = try await control("held").split(separator: " ")
            let victim = try #require(children.firstIndex { "\($0.pid)" == held.first ?? "" })
            let session = try #require(Int(held[1].dropFirst("session-".count)))
            // All others are answered: nothing else of it is on its way.
            #expect(children[victim].answers(sessions - 1).values.allSatisfy { $0 == "ok" })
            children.remove(at: victim).end()
            _ = try await control("release")
            for child in children {
                var answers = child.answers()
                let answer = answers.removeValue(forKey: session)
                #expect(answers.count == sessions - 1 && answers.values.allSatisfy { $0 == "ok" }, "round \(round)")
                // The server has issued what nobody has received: only a login helps, and that is what the answer says.
                #expect(
                    isMade ? answer == "401" || answer?.contains("unauthorized") == true : answer == "ok",
                    "round \(round): \(answer ?? "")")
            }
            lost += isMade ? 1 : 0
            let counts = try await counts()
            #expect(counts.reuses == lost && counts.alive == sessions - (isMade ? 1 : 0), "round \(round): \(counts)")
            if isMade { try await logIn(session) }
        }
    }
}
