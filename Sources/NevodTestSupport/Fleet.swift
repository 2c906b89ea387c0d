// A static build of this package has no Testing module, and runs no tests.
#if canImport(Testing)
    import Foundation
    package import Glibc
    package import NevodHost
    import NevodSupport
    import Testing

    /// Processes that share the sessions of one store, against a server that ends a session when a refresh token is reused.
    package struct Fleet {
        private struct Child {
            let pid: pid_t
            let pipe: Int32
            let lines: LineReader

            init(_ started: (pid: pid_t, pipe: Int32)) {
                (pid, pipe) = started
                lines = LineReader(pipe)
            }

            /// Waits until the process has opened the store.
            func waitUntilReady() throws {
                let line = lines.next()
                try #require(line == "ready", "a process of the fleet: \(line ?? "ended")")
            }

            /// The outcome of each session's request, until the round ends or `count` outcomes have arrived.
            func outcomes(_ count: Int = .max) -> [Int: String] {
                var outcomes: [Int: String] = [:]
                while outcomes.count < count, let line = lines.next(), !line.hasPrefix("done") {
                    let words = line.split(separator: " ", maxSplits: 1)
                    if let number = words.first.flatMap({ Int($0) }) {
                        outcomes[number] = words.count > 1 ? String(words[1]) : ""
                    }
                }
                return outcomes
            }

            func end() {
                kill(pid, SIGKILL)
                Command.wait(for: pid)
                close(pipe)
            }
        }

        private struct Counts: Equatable {
            var exchanges: Int
            /// The largest number of exchanges in a session.
            var most: Int
            var reuses: Int
            var alive: Int
        }

        private let server: ProbeServer
        private let provider = NetworkProvider(session: CurlSession())
        private let storage: any KeyValueStorage
        private let spawn: (_ words: [String]) throws -> (pid: pid_t, pipe: Int32)

        /// - Parameters:
        ///   - folder: where the server keeps its state.
        ///   - storage: the store that the processes share.
        ///   - spawn: starts a process that opens the same store; the words follow `fleet STORE` on its command line.
        package init(
            _ folder: TemporaryFolder, _ storage: some KeyValueStorage,
            spawn: @escaping (_ words: [String]) throws -> (pid: pid_t, pipe: Int32)
        ) async throws {
            server = try await ProbeServer.start("rotating", [folder.makeFolder("server")])
            self.storage = storage
            self.spawn = spawn
        }

        /// Starts processes, and waits until each has opened the store, because disturbing the store would make that fail.
        private func children(_ count: Int, _ sessions: Int, _ rounds: ClosedRange<Int>) throws -> [Child] {
            var children: [Child] = []
            do {
                for _ in 0..<count {
                    children.append(
                        Child(try spawn([server.url, "\(sessions)", "\(rounds.lowerBound)", "\(rounds.upperBound)"])))
                }
                for child in children { try child.waitUntilReady() }
                return children
            } catch {
                for child in children { child.end() }
                throw error
            }
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
            let token = try await control("login/session-\(number)")
            let tokens = TokenStorage<OAuthToken>(storage: storage, key: StorageKey(rawValue: "session-\(number)"))
            try await tokens.save(JSONDecoder().decode(OAuthToken.self, from: Data(token.utf8)))
        }

        /// Requires that every request succeeds, that each expiry costs one exchange per session, and that the server revokes no
        /// session.
        ///
        /// - Parameter disturb: disturbs the store on its own thread in each round; gets the round's number, and a function that
        ///   tells whether the round still lasts. An exchange then takes 0.7 seconds, so that disturbances coincide with
        ///   exchanges.
        package func survive(
            processes: Int, sessions: Int, rounds: Int,
            _ disturb: (@Sendable (_ round: Int, _ lasts: @Sendable () -> Bool) throws -> Void)? = nil
        ) async throws {
            for number in 0..<sessions { try await logIn(number) }
            if disturb != nil { _ = try await control("pace/700") }
            let children = try children(processes, sessions, 1...rounds)
            defer { for child in children { child.end() } }
            for round in 1...rounds {
                _ = try await control("expire")
                let lasts = Locked(true)
                async let disturbing: Void = onOwnThread {
                    if let disturb { try disturb(round) { lasts.withLock(\.self) } }
                }
                _ = try await control("open/\(round)")
                let outcomes = children.map { $0.outcomes() }
                lasts.withLock { $0 = false }
                try await disturbing
                for outcomes in outcomes {
                    #expect(outcomes == Dictionary(uniqueKeysWithValues: (0..<sessions).map { ($0, "ok") }), "round \(round)")
                }
                #expect(
                    try await counts() == Counts(exchanges: sessions * round, most: round, reuses: 0, alive: sessions),
                    "round \(round)")
            }
        }

        /// Kills one of three processes during its exchange, round after round: requires that each kill costs at most that one
        /// session, and that the other processes report it.
        package func surviveKills() async throws {
            let sessions = 20
            for number in 0..<sessions { try await logIn(number) }
            let rounds = Rounds("FLEET", default: 6).count
            var children: [Child] = []
            defer { for child in children { child.end() } }
            var lost = 0
            for round in 1...rounds {
                children += try self.children(3 - children.count, sessions, round...rounds)
                let isMade = round.isMultiple(of: 2)
                _ = try await control("hold/\(isMade ? "after" : "instead")")
                _ = try await control("expire")
                _ = try await control("open/\(round)")
                let held = try await control("held").split(separator: " ")
                let victim = try #require(children.firstIndex { "\($0.pid)" == held.first ?? "" })
                let session = try #require(Int(held[1].dropFirst("session-".count)))
                // After these outcomes, the victim has no other request in flight.
                #expect(children[victim].outcomes(sessions - 1).values.allSatisfy { $0 == "ok" })
                children.remove(at: victim).end()
                _ = try await control("release")
                for child in children {
                    var outcomes = child.outcomes()
                    let outcome = outcomes.removeValue(forKey: session)
                    #expect(outcomes.count == sessions - 1 && outcomes.values.allSatisfy { $0 == "ok" }, "round \(round)")
                    // The server has issued a token that no process received: only a login helps, and the outcome says so.
                    #expect(
                        isMade ? outcome == "401" || outcome?.contains("unauthorized") == true : outcome == "ok",
                        "round \(round): \(outcome ?? "")")
                }
                lost += isMade ? 1 : 0
                let counts = try await counts()
                #expect(counts.reuses == lost && counts.alive == sessions - (isMade ? 1 : 0), "round \(round): \(counts)")
                if isMade { try await logIn(session) }
            }
        }
    }
#endif
