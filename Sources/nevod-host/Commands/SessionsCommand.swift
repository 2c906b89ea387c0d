import NevodHost
import NevodSupport

/// `sessions`: lists the stored sessions, shows one without its secrets, or removes one here.
struct SessionsCommand {
    let arguments: Arguments
    let console: Console

    func run() async throws {
        let givenAnswers = try CommandLineAnswers(arguments, console: console)
        let store = try SessionStore(arguments, givenAnswers, console)
        let storage = try await store.openIfExists()
        let sessions = try await storage.asyncMap(StoredSession.all) ?? []
        givenAnswers.warnAboutUnused(.typed)
        switch arguments.operands.first {
        case nil: try list(sessions, store, storage)
        case "show" where arguments.operands.count == 2:
            try show(try Self.session(arguments.operands[1], of: numbered(sessions)), store, storage.map(store.seal))
        case "forget" where arguments.operands.count == 2:
            let found = try Self.session(arguments.operands[1], of: numbered(sessions))
            try await forget(found.session.name, in: storage)
        default:
            let words = Command.sessions.operandWords
            let given = arguments.operands[0]
            let problem =
                words.contains(given) ? "sessions \(given) needs one NAME" : "sessions can't \(TerminalText.safe(given))"
            let hint = words.contains(given) ? "" : Suggestions.hint(for: given, among: words)
            throw UsageError(
                problem + (hint.isEmpty ? "; write sessions, sessions show NAME or sessions forget NAME" : hint)
                    + (words.contains(given) ? ", where NAME is a number, an account or a profile" : ""))
        }
    }

    private func list(_ sessions: [StoredSession], _ store: SessionStore, _ storage: (any SealedStorage)?) throws {
        let shown = numbered(sessions)
        if arguments.has(.json) {
            let json = JSON.object([
                ("store", .string(store.path)), ("sealed_by", storage.map { .string($0.keyKind) } ?? .null),
                ("sessions", .array(shown.map { self.json($1, number: $0 + 1) })),
            ])
            return try output(json.text)
        }
        guard storage != nil else { return try output("no sessions: there is no store yet at \(store.path)") }
        guard !shown.isEmpty else { return try output("no sessions in \(store.path)") }
        let now = HostClock.system.now
        let rows = shown.map { index, session in
            let name = session.name
            let parameters = name.parameters.isEmpty ? "" : "\(name.account.isEmpty ? "" : " ")(\(name.parameterText))"
            let cells = [
                name.profile, name.scheme, name.account + parameters, session.expiry(now: now),
                name.allOrigins.joined(separator: " "),
            ]
            return [String(index + 1)] + cells.map { $0.isEmpty ? "-" : TerminalText.safe($0) }
        }
        try output(Columns.text([["#", "PROFILE", "SCHEME", "ACCOUNT", "EXPIRES", "ORIGINS"]] + rows) + "\nin \(store.path)")
    }

    /// Returns the sessions of the profile, if one is given, each with its number among all sessions.
    private func numbered(_ sessions: [StoredSession]) -> [(offset: Int, element: StoredSession)] {
        sessions.enumerated().filter { arguments.value(.profile) == nil || $1.name.profile == arguments.value(.profile) }
    }

    /// Finds a session by its number in the list, or by an account, profile or key that names only one.
    static func session(
        _ word: String, of sessions: [(offset: Int, element: StoredSession)]
    ) throws -> (number: Int, session: StoredSession) {
        if let number = Int(word), let (_, session) = sessions.first(where: { $0.offset + 1 == number }) {
            return (number, session)
        }
        let found = sessions.filter { _, session in
            [session.name.account, session.name.profile, session.name.key.rawValue].contains(word)
        }
        guard let first = found.first else { throw UsageError("there is no session \"\(word)\"; nevod-host sessions lists them") }
        guard found.count == 1 else {
            throw UsageError("\(found.count) sessions match \"\(word)\"; give the number that nevod-host sessions shows")
        }
        return (first.offset + 1, first.element)
    }

    /// Removes a session without telling the server: a logout needs the settings of the login, which may have changed.
    private func forget(_ name: SessionName, in storage: (any SealedStorage)?) async throws {
        try await storage?.set(nil as Secret?, for: name.key)
        let account = name.account.isEmpty ? "" : " of \(TerminalText.safe(name.account))"
        try output("the session\(account) is removed here; the server was not told")
    }

    private func show(_ found: (number: Int, session: StoredSession), _ store: SessionStore, _ seal: String?) throws {
        if arguments.has(.json) { return try output(json(found.session, number: found.number).text) }
        let name = found.session.name
        var lines = [
            ("profile", name.profile), ("plugin", name.plugin), ("scheme", name.scheme), ("account", name.account),
            ("origins", name.origins.joined(separator: " ")),
        ]
        if !name.furtherOrigins.isEmpty { lines.append(("more origins", name.furtherOrigins.joined(separator: " "))) }
        if !name.parameters.isEmpty { lines.append(("parameters", name.parameterText)) }
        switch found.session.state {
        case .readable(_, let account):
            if account != name.account { lines.append(("logged in as", account)) }
            lines.append(("expires", found.session.expiry(now: HostClock.system.now)))
        case .damaged(let problem): lines.append(("damaged", problem))
        }
        lines += [("key", name.key.rawValue), ("store", store.path), ("sealed by", seal ?? "")]
        try output(
            lines.map { title, text in
                let safe = text.isEmpty ? "-" : TerminalText.safe(text)
                return title.padded(to: 14) + safe
            }.joined(separator: "\n"))
    }

    private func json(_ session: StoredSession, number: Int) -> JSON {
        let name = session.name
        let state: [(String, JSON)] =
            switch session.state {
            case .readable(let expires, let account):
                [
                    ("expires", expires.map { .string(StoredSession.text(of: $0)) } ?? .null), ("logged_in_as", .string(account)),
                    ("problem", .null),
                ]
            case .damaged(let problem): [("expires", .null), ("logged_in_as", .null), ("problem", .string(problem))]
            }
        return .object(
            [
                ("number", .number(number)), ("key", .string(name.key.rawValue)), ("profile", .string(name.profile)),
                ("plugin", .string(name.plugin)), ("scheme", .string(name.scheme)), ("account", .string(name.account)),
                ("parameters", .string(name.parameterText)),
                ("origins", .array(name.origins.map(JSON.string))),
                ("also_for", .array(name.furtherOrigins.map(JSON.string))),
            ] + state)
    }
}

extension Optional {
    fileprivate func asyncMap<Result>(_ transform: (Wrapped) async throws -> Result) async rethrows -> Result? {
        if let self { try await transform(self) } else { nil }
    }
}
