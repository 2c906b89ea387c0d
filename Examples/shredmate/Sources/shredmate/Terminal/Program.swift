import Foundation
import NevodSessions

/// Carries out commands, one after another, and prints what a person wants to know. Never prints a token.
@MainActor
struct Program {
    let module: AuthModule

    /// Returns the exit status.
    func run(_ words: [String]) async -> Int32 {
        await module.authState.restoreSession()
        guard words.isEmpty else { return await carryOut(words) ? 0 : 1 }

        // A failed command doesn't stop the others: a person reads what went wrong.
        while let line = readLine() {
            let words = line.split(separator: " ").map(String.init)
            if !words.isEmpty { _ = await carryOut(words) }
        }
        return 0
    }

    /// Returns whether the command succeeded.
    private func carryOut(_ words: [String]) async -> Bool {
        guard let command = Command(words) else {
            complain("there is no such command: \(words.joined(separator: " ")); `shredmate help` lists all")
            return false
        }
        do {
            if command.needsSession, await !module.authService.isAuthenticated() {
                throw module.authState.error == .sessionExpired ? AuthError.sessionExpired : Advice.NotLoggedIn()
            }
            try await carryOut(command)
            return true
        } catch {
            complain(Advice.text(for: error, isLoggedIn: await module.authService.isAuthenticated()))
            return false
        }
    }

    private func carryOut(_ command: Command) async throws {
        switch command {
        case .login(let email): try await logIn(email)
        case .register(let email, let name): try await register(email, name)
        case .profile: try await showProfile()
        case .describe(let type, let text):
            let rider = try await module.riderService.updateMyRider(UpdateRiderRequest(type: type, description: text))
            say("\(rider.name), \(rider.type.rawValue): \(rider.description ?? "")")
        case .avatar(let path): try await uploadAvatar(path)
        case .home(let place):
            let saved = try await module.riderService.updateBaseLocation(place)
            say("home: \(saved.name) (\(saved.latitude), \(saved.longitude))")
        case .sports:
            for sport in try await module.riderService.fetchAllSports() { say("\(sport.id): \(sport.name)") }
        case .ride(let id, let level):
            let saved = try await module.riderService.saveSport(id: id, level: level)
            say("\(saved.sport.name): \(saved.level.rawValue)")
        case .drop(let id):
            try await module.riderService.removeSport(id: id)
            say("removed \(id)")
        case .logout:
            await module.authState.logout()
            say("logged out")
        case .delete:
            try await module.authState.deleteAccount()
            say("the account is deleted")
        case .help: say(Command.usage)
        }
    }

    private func logIn(_ email: String) async throws {
        let password = try password(for: email)
        await module.authState.login(email: email, password: password)
        try reportLogin()
    }

    private func register(_ email: String, _ name: String) async throws {
        let password = try password(for: email)
        await module.authState.register(email: email, password: password, name: name)
        try reportLogin()
    }

    private func password(for email: String) throws -> String {
        guard let password = Password.read(prompt: "password of \(email): ") else { throw Advice.NoPassword() }
        return password
    }

    private func reportLogin() throws {
        if let error = module.authState.error { throw error }
        say("logged in as \(module.authState.user?.name ?? "")")
    }

    private func showProfile() async throws {
        let rider = try await module.riderService.fetchMyRider()
        say("\(rider.name), \(rider.type.rawValue)\(rider.description.map { ": \($0)" } ?? "")")
        if let user = module.authState.user { say("e-mail: \(user.email)") }
        do {
            say("home: \(try await module.riderService.fetchBaseLocation().name)")
        } catch NetworkError.clientError(404, _, _) {
            say("home: not set")
        }
        for mine in try await module.riderService.fetchMyRiderSports() { say("\(mine.sport.name): \(mine.level.rawValue)") }
        if let avatar = rider.avatarUrl { say("avatar: \(avatar)") }
    }

    private func uploadAvatar(_ path: String) async throws {
        let picture: Data
        do {
            picture = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw Advice.UnreadableFile(path: path)
        }
        let bar = ProgressBar(name: URL(filePath: path).lastPathComponent)
        let receipt = try await module.riderService.uploadAvatar(picture, progress: bar.update)
        say("uploaded \(receipt.size) bytes: \(receipt.avatarUrl)")
    }

    private func say(_ text: String) {
        FileHandle.standardOutput.write(Data("\(Self.printable(text))\n".utf8))
    }

    private func complain(_ text: String) {
        FileHandle.standardError.write(Data("shredmate: \(Self.printable(text))\n".utf8))
    }

    /// A control character in a server's text could be a command to the terminal.
    nonisolated static func printable(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.properties.generalCategory == .control && $0 != "\n" ? "?" : $0 }))
    }
}
