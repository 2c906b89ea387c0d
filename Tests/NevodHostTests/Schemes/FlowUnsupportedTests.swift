import NevodPluginABI
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// A real library's flows use actions that the host can't perform. The step stays open.
struct FlowUnsupportedTests {
    private static let url = "http://127.0.0.1:1"
    private let log = Collected<String>()

    private func run(_ mode: String, _ interaction: (any UserInteraction)? = nil, _ kind: FlowKind = .login) async throws
        -> String
    {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": .text(mode), "url": .text(Self.url)], log: { [log] in if $1.isLoggedByScheme { log.append($1) } })
        let driver = FlowDriver(instance: instance, session: CurlSession(), interaction: interaction)
        let token = try await driver.run(kind, keep: { _ in })
        return token.map { $0.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } } ?? "none"
    }

    private func problem(_ mode: String, _ interaction: (any UserInteraction)? = nil) async -> String {
        do { return try await run(mode, interaction) } catch { return "\(error)" }
    }

    @Test func `After a question of unknown kind and without a browser, a flow shows a device code in the same step`()
        async throws
    {
        let person = FlowPerson(can: { if case .open = $0 { false } else { true } })
        #expect(try await run("fallback", person) == "device")
        #expect(await eventually { log.values == ["ask: 5", "browse: 5", "show: 0", "freed after 02 steps"] })
        #expect(person.seen.values == ["shown Enter ABCD \(Self.url)"])
    }

    @Test func `If nothing is possible, the error names everything that the flow tried`() async throws {
        let all = "asks for passkey (a question of the unknown kind 99), browser, browser, but got no answer"
        #expect(await problem("fallback").contains(all))
        // The interaction can't explain a question that it doesn't know.
        let mute = FlowPerson(can: { _ in false }, error: Command.Failure(description: "explained"))
        #expect(await problem("fallback", mute).contains(all))
        #expect(await problem("password", mute) == "explained")
        #expect(mute.seen.values.last?.contains("password") == true)
        #expect(await eventually { log.values.contains("freed after 01 steps") })
    }

    @Test
    func `A flow that gives up after an unsupported action fails for this reason, unless the status decides about the token`()
        async throws
    {
        let words = "asks for passkey (a question of the unknown kind 99), but got no answer"
        for status in [NEVOD_OK, NEVOD_UNAVAILABLE, NEVOD_UNSUPPORTED, NEVOD_INTERNAL, 77] {
            let problem = await problem("unknown-question \(status)")
            #expect(problem.contains(words), "\(status): \(problem)")
        }
        #expect(await problem("unknown-question \(NEVOD_DENIED)").contains(" was refused: "))
        #expect(await problem("unknown-question \(NEVOD_BAD_TOKEN)").contains("; log in again"))
        #expect(await problem("unknown-question \(NEVOD_BAD_SETTINGS)").contains(" needs corrected settings: "))
    }

    @Test func `Another question may follow one of unknown kind`() async throws {
        let person = FlowPerson(answers: ["password": Secret("p")])
        // The flow asks again in each step, until its steps are used up.
        #expect(await problem("unknown-question", person).contains("it took more than 100 steps"))
        #expect(person.seen.values.allSatisfy { $0 == "asked [\"password\"]" })
    }

    @Test func `An invalid action ends the flow, and no other one is taken`() async throws {
        #expect(await problem("invalid", FlowPerson()).contains("its browse is invalid: its url is not UTF-8, or contains"))
        #expect(await eventually { log.values == ["browse: 6", "show: 6", "freed after 01 steps"] })
    }

    @Test func `Without a person, a text goes unread, but an address is unsupported`() async throws {
        #expect(await problem("two-actions").contains("token is the second action"))
        #expect(await problem("password").contains("asks for password, but got no answer"))
        #expect(await problem("fallback").contains("browser"))
    }
}
