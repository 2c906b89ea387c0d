import Foundation
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

/// Real libpam with real modules, and the test's own service folder.
struct PAMPresenceCheckTests {
    private let services: PAMServices
    private let prompts = Collected<PAMPrompt>()

    init() throws {
        services = try PAMServices()
    }

    private func check(
        _ service: String, _ answers: [String]? = nil, user: String = "ali", timeout: Duration = .seconds(60),
        library: String = "libpam.so.0"
    ) -> PAMPresenceCheck {
        let prompts = prompts
        return PAMPresenceCheck(
            service: service, user: user, folder: services.path, timeout: timeout, library: library
        ) { prompt in
            prompts.append(prompt)
            return prompt.style == .hidden || prompt.style == .visible
                ? answers.map { Secret($0[prompts.values.count - 1]) } : nil
        }
    }

    private func failure(_ check: PAMPresenceCheck) async -> PresenceError? {
        do throws(PresenceError) {
            try await check.confirm(reason: "the test")
            return nil
        } catch {
            return error
        }
    }

    // MARK: Verdicts

    @Test func `Modules that permit confirm, and ask nothing`() async throws {
        try services.add("yes", "auth required pam_permit.so", "account required pam_permit.so")
        #expect(await failure(check("yes")) == nil)
        #expect(prompts.values.isEmpty)
    }

    @Test func `A password is asked for once, and only the right one confirms`() async throws {
        try services.addPassword("app")
        #expect(await failure(check("app", ["sesame"])) == nil)
        #expect(prompts.values == [PAMPrompt(.hidden, text: "Password: ", reason: "the test")])

        let wrong = try #require(await failure(check("app", ["", "swordfish"])))
        #expect(wrong.code == .refused && wrong.systemCode == 7)
        #expect(wrong.description == "the presence check (PAM service app) refused ali: Authentication failure; try again")
        #expect(prompts.values.count == 2)

        #expect(await failure(check("app", ["", "", "sesame"])) == nil)
        #expect(await failure(check("app", ["", "", "", "sesame"], user: "eve"))?.code == .refused)
    }

    @Test func `A visible answer is asked for as such`() async throws {
        try services.addPassword("app", options: "echo")
        #expect(await failure(check("app", ["sesame"])) == nil)
        #expect(prompts.values.map(\.style) == [.visible])
    }

    @Test func `An account that may not be used is refused after the right password`() async throws {
        try services.addPassword("right")
        let text = try String(contentsOfFile: "\(services.path)/right", encoding: .utf8)
        let auth = try #require(text.split(separator: "\n").first)
        try services.add("app", String(auth), "account required pam_debug.so acct=acct_expired")
        let error = try #require(await failure(check("app", ["sesame"])))
        #expect(error.code == .refused && error.problem == "refused ali: the account has expired" && error.systemCode == 13)
        #expect(prompts.values.count { $0.style == .hidden } == 1)
    }

    /// The codes from pam_debug, libpam's own module for tests.
    @Test(arguments: [
        ("auth_err", PresenceError.Code.refused, "try again"), ("perm_denied", .refused, "try again"),
        ("maxtries", .refused, "wait"), ("user_unknown", .unavailable, "account"), ("acct_expired", .refused, "administrator"),
        ("new_authtok_reqd", .refused, "passwd"), ("authtok_expired", .refused, "passwd"),
        ("authinfo_unavail", .unavailable, "modules"), ("cred_insufficient", .unavailable, "modules"),
        ("system_err", .unavailable, "modules"), ("buf_err", .unavailable, "modules"), ("service_err", .unavailable, "modules"),
        ("abort", .unavailable, "modules"),
    ])
    func `Each of PAM's codes says what it means and what to do`(code: String, kind: PresenceError.Code, remedy: String)
        async throws
    {
        try services.add("app", "auth required pam_debug.so auth=\(code)", "account required pam_permit.so")
        let error = try #require(await failure(check("app", [""])))
        #expect(error.code == kind && error.remedy?.contains(remedy) == true, "\(error)")
        #expect(error.systemCode.map { $0 != 0 } == true)
    }

    /// pamtester, another project's program, gives the same verdicts with the same services.
    @Test(arguments: [("sesame", "ali"), ("swordfish", "ali"), ("", "ali"), ("sesame", "eve")])
    func `pamtester agrees`(password: String, user: String) async throws {
        try services.addPassword("app")
        let path = services.path
        let judged = try await onOwnThread {
            let script = """
                printf '%s\\n' "$1" | LD_PRELOAD=libpam_wrapper.so PAM_WRAPPER=1 PAM_WRAPPER_SERVICE_DIR="$0" \
                pamtester app "$2" 'authenticate(PAM_DISALLOW_NULL_AUTHTOK)' acct_mgmt >/dev/null 2>&1; echo $?
                """
            return try Command.output(["bash", "-c", script, path, password, user])
        }
        // 127 would mean a missing program.
        #expect(["0\n", "1\n"].contains(judged))
        #expect(await failure(check("app", [password], user: user)) == nil ? judged == "0\n" : judged == "1\n")
        #expect((judged == "0\n") == (password == "sesame" && user == "ali"))
    }

    // MARK: Missing parts

    @Test func `A service without a file is named`() async throws {
        let error = try #require(await failure(check("missing")))
        #expect(error.code == .unavailable)
        #expect(error.description.contains("PAM service missing") && error.description.contains(services.path))
    }

    @Test func `A service without a file is not set up, whatever the system's default service says`() async throws {
        let error = await failure(PAMPresenceCheck(service: "nevod-has-no-such-service", user: "ali") { _ in Secret("x") })
        #expect(error?.code == .unavailable && error?.problem.contains("isn't set up") == true, "\(String(describing: error))")
    }

    @Test func `A module that can't be loaded makes the check unavailable`() async throws {
        try services.add("app", "auth required pam_nevod_has_no_such_module.so", "account required pam_permit.so")
        #expect(await failure(check("app", [""]))?.code == .unavailable)
    }

    @Test func `A system without libpam is told which package to install`() async throws {
        let error = try #require(await failure(check("app", library: "libpam-absent.so.0")))
        #expect(error.code == .unavailable && error.remedy?.contains("apt install libpam0g") == true)
        // A library that isn't libpam.
        #expect(await failure(check("app", library: "libz.so.1"))?.problem.contains("has no pam_start") == true)
    }

    @Test(arguments: ["", "../login", "a\0b"]) func `A name that no file can have is refused`(service: String) async throws {
        let error = try #require(await failure(check(service)))
        #expect(error.code == .unavailable && error.problem == "has a name that is not a file name")
    }

    // MARK: The conversation

    @Test func `A person who gives no answer has cancelled`() async throws {
        try services.addPassword("app")
        let error = try #require(await failure(check("app")))
        #expect(error.code == .cancelled && error.problem == "was cancelled by the person")
    }

    @Test func `A person who has cancelled is not asked by the next module`() async throws {
        try services.addPassword("first")
        let line = try String(contentsOfFile: "\(services.path)/first", encoding: .utf8).split(separator: "\n")[0]
        try services.add("app", String(line), String(line), "account required pam_permit.so")
        #expect(await failure(check("app"))?.code == .cancelled)
        #expect(prompts.values.count == 1)
        // Otherwise, both ask.
        #expect(await failure(check("app", ["", "sesame", "sesame"])) == nil)
        #expect(prompts.values.count == 3)
    }

    @Test func `A prompt that can't reach the person is named without what it knows`() async throws {
        struct NoTerminal: Error, CustomStringConvertible {
            let description = "sesame"
        }
        try services.addPassword("app")
        let check = PAMPresenceCheck(service: "app", user: "ali", folder: services.path) { _ in throw NoTerminal() }
        let error = try #require(await failure(check))
        #expect(error.code == .unavailable && error.problem.contains("NoTerminal"))
        #expect(!error.description.contains("sesame") && error.check == "PAM service app")
        let own = PAMPresenceCheck(service: "app", user: "ali", folder: services.path) { _ throws(PresenceError) in
            throw PresenceError(.unavailable, "the terminal", problem: "is closed")
        }
        #expect(await failure(own)?.problem == "is closed")
    }

    @Test func `A module's messages are shown, and their controls are not`() async throws {
        let text = try services.folder.write("text", "welcome \u{1B}[2J%u\n")
        try services.add(
            "app", "auth optional pam_echo.so file=\(text)", "auth required pam_permit.so", "account required pam_permit.so")
        #expect(await failure(check("app")) == nil)
        #expect(prompts.values.map(\.style) == [.information])
        #expect(prompts.values.first?.text.contains("ali") == true)
        #expect(prompts.values.first?.text.contains("\u{1B}") == false)
    }

    @Test func `A module that never stops talking is stopped`() async throws {
        let lines = Array(repeating: "auth optional pam_echo.so again", count: 300).joined(separator: "\n")
        try services.add("app", lines, "auth required pam_permit.so", "account required pam_permit.so")
        let error = try #require(await failure(check("app")))
        #expect(error.code == .unavailable && error.problem == "sends more than 256 messages")
        #expect(prompts.values.count == 256)
    }

    @Test(arguments: [String(repeating: "x", count: 512), "se\0same"])
    func `An answer that PAM can't take is refused, and not cut off`(answer: String) async throws {
        try services.addPassword("app", "se")
        let error = try #require(await failure(check("app", [answer])))
        #expect(error.code == .refused && error.problem.contains("accepts at most 511 bytes"))
    }

    @Test func `The longest answer arrives whole`() async throws {
        // pam_matrix reads lines of at most 512 bytes.
        let password = String(repeating: "p", count: 400)
        try services.addPassword("app", password)
        #expect(await failure(check("app", [password])) == nil)
    }

    /// The program that pam_exec runs inherits the signal mask of the module's thread.
    @Test func `A module that writes to a program which has exited doesn't end the process`() async throws {
        let mask = "\(services.path)/mask"
        let script = try services.folder.write(
            "script", "#!/bin/sh\ngrep SigBlk /proc/self/status | cut -f 2 > \(mask)\n", mode: 0o700)
        try services.add("app", "auth required pam_exec.so quiet \(script)", "account required pam_permit.so")
        #expect(await failure(check("app")) == nil)
        let text = try String(contentsOfFile: mask, encoding: .utf8)
        let signals = try #require(UInt64(text.dropLast(), radix: 16))
        #expect(signals & 1 << (UInt64(SIGPIPE) - 1) != 0)
    }

    // MARK: Slowness

    @Test func `A check that takes too long is given up, and its thread ends when the module does`() async throws {
        try services.addBlocking("slow")
        let check = check("slow", timeout: .milliseconds(50))
        let error = try #require(await failure(check))
        #expect(error.code == .timedOut && error.check == "PAM service slow")
        #expect(await services.release { check.threadCount == 0 })
    }

    @Test func `A slow check confirms in the end`() async throws {
        try services.addBlocking("slow")
        let check = check("slow")
        let outcome = Task { await failure(check) }
        #expect(await eventually { check.threadCount == 1 })
        #expect(await services.release { check.threadCount == 0 })
        #expect(await outcome.value == nil)
    }

    @Test func `A cancelled check returns at once, and the next one has a thread of its own`() async throws {
        try services.addBlocking("slow")
        let check = check("slow")
        let first = Task { await failure(check) }
        #expect(await eventually { services.blockedCount("slow") == 1 })
        first.cancel()
        #expect(await first.value?.code == .cancelled)
        let second = Task { await failure(check) }
        #expect(await eventually { check.threadCount == 2 })
        #expect(await services.release { check.threadCount == 0 })
        #expect(await second.value == nil)
    }

    @Test func `A cancelled check closes its prompt`() async throws {
        try services.addPassword("app")
        let (asked, closed) = (Latch(), Latch())
        let check = PAMPresenceCheck(service: "app", user: "ali", folder: services.path) { _ in
            asked.set()
            do {
                try await Task.sleep(for: .seconds(600))
            } catch {
                closed.set()
                throw error
            }
            return nil
        }
        let task = Task { await failure(check) }
        await asked.wait()
        task.cancel()
        await closed.wait()
        #expect(await task.value?.code == .cancelled)
        #expect(await eventually { check.threadCount == 0 })
    }

    @Test func `Modules that block forever take no more than four threads`() async throws {
        try services.addBlocking("slow")
        let check = check("slow")
        for number in 1...PAMPresenceCheck.maxThreads {
            let outcome = Task { await failure(check) }
            #expect(await eventually { services.blockedCount("slow") == number })
            outcome.cancel()
            #expect(await outcome.value?.code == .cancelled)
        }
        let error = try #require(await failure(check))
        #expect(error.code == .unavailable && error.problem.contains("is stuck"))
        #expect(check.threadCount == PAMPresenceCheck.maxThreads)
        #expect(await services.release { check.threadCount == 0 })
        // It recovers.
        try services.add("slow", "auth required pam_permit.so", "account required pam_permit.so")
        #expect(await failure(check) == nil)
    }

    @Test func `One instance asks one question after another; two ask at once`() async throws {
        try services.addPassword("app")
        let counts = Locked((open: 0, most: 0))
        let (release, path) = (Latch(), services.path)
        func make() -> PAMPresenceCheck {
            PAMPresenceCheck(service: "app", user: "ali", folder: path) { _ in
                counts.withLock { $0 = ($0.open + 1, max($0.most, $0.open + 1)) }
                await release.wait()
                counts.withLock { $0.open -= 1 }
                return Secret("sesame")
            }
        }
        let (one, other) = (make(), make())
        let outcomes = [one, one, one, other].map { check in Task { await failure(check) } }
        #expect(await eventually { counts.withLock { $0.open } == 2 })
        release.set()
        for outcome in outcomes { #expect(await outcome.value == nil) }
        #expect(counts.withLock { $0.most } == 2)
    }

    @Test func `50 instances at once keep their users apart`() async throws {
        try services.addPassword("app")
        let path = services.path
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask {
                    let password = number.isMultiple(of: 2) ? "sesame" : "swordfish"
                    let check = PAMPresenceCheck(service: "app", user: "ali", folder: path) { _ in Secret(password) }
                    return (await failure(check)?.code == .refused) != number.isMultiple(of: 2)
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
