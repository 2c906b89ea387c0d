import NevodSupport
import Testing

@testable import NevodHost

/// Tests which state a scheme sees, and with which use count.
struct SchemeStatesTests {
    private let one: StatePlace
    private let two: StatePlace
    private let login = StatePlace()
    private var states = SchemeStates()

    init() throws {
        one = StatePlace(origin: try HTTPURL("http://one.example").origin)
        two = StatePlace(origin: try HTTPURL("http://two.example").origin)
    }

    private func place(_ number: Int) throws -> StatePlace {
        StatePlace(origin: try HTTPURL("http://\(number).example").origin)
    }

    private func secret(_ text: String) -> Secret { Secret(copying: Array(text.utf8)) }

    private mutating func counts(_ times: Int, at place: StatePlace) -> [UInt64] {
        (0..<times).map { _ in states.use(at: place).count }
    }

    @Test mutating func `A new state restarts the count; an equal state continues it`() {
        #expect(counts(2, at: one) == [0, 1])
        states.set(secret("first"), at: one)
        #expect(counts(2, at: one) == [0, 1])
        states.set(secret("first"), at: one)
        #expect(counts(2, at: one) == [2, 3])
        states.set(secret("second"), at: one)
        #expect(counts(1, at: one) == [0])
    }

    @Test mutating func `The first of two successors of a state is kept`() {
        states.replace(nil, with: secret("first"), at: one)
        states.replace(nil, with: secret("second"), at: one)
        #expect(states.use(at: one).state == secret("first"))
        states.replace(secret("first"), with: secret("second"), at: one)
        #expect(counts(3, at: one) == [0, 1, 2])
        // A late response to a request that used the first state.
        states.replace(secret("first"), with: secret("third"), at: one)
        #expect(states.use(at: one).state == secret("second"))
        #expect(states.use(at: one).count == 4)
    }

    @Test mutating func `An origin starts with the state that a login kept`() {
        states.set(secret("login"), at: login)
        #expect(states.use(at: one).state == secret("login"))
        states.replace(secret("login"), with: secret("own"), at: one)
        #expect(states.state(at: one) == secret("own"))
        #expect(states.state(at: two) == secret("login"))
    }

    @Test mutating func `The state of one account is not shown to another`() {
        let other = StatePlace(account: "other", origin: one.origin)
        states.set(secret("mine"), at: login)
        #expect(states.state(at: one) == secret("mine"))
        #expect(states.state(at: other) == nil)
        states.set(secret("theirs"), at: other)
        #expect(states.use(at: one).state == secret("mine"))
        #expect(states.use(at: other).count == 0)
    }

    @Test mutating func `A thousand origins are remembered; the state that a login kept is never evicted`() throws {
        states.set(secret("login"), at: login)
        for index in 0..<3000 {
            let place = try place(index)
            states.set(secret("own"), at: place)
            #expect(states.state(at: place) == secret("own"))
        }
        #expect(states.state(at: login) == secret("login"))
        let known = try (0..<3000).count { try states.state(at: place($0)) == secret("own") }
        #expect(known == 999)
        // A dropped origin has used the login's state with these counts, and must not repeat them.
        #expect(counts(3, at: one) == [0, 1, 2])
        for number in 0..<3000 { _ = states.use(at: try place(number)) }
        #expect(counts(1, at: one)[0] > 2)
    }

    @Test mutating func `The state that a new login keeps applies to all origins, with a new count`() {
        states.set(secret("first"), at: login)
        #expect(counts(2, at: one) == [0, 1])
        states.set(secret("own"), at: two)
        states.set(secret("second"), at: login)
        #expect(states.state(at: two) == secret("second"))
        #expect(counts(2, at: one) == [0, 1])
    }
}
