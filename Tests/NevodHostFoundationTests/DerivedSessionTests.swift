import Foundation
import NevodHost
import NevodTestSupport
import Testing

@testable import NevodHostFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct DerivedSessionTests {
    @Test func `Each URLSession has one derived session`() {
        let (first, second) = (URLSession(configuration: .default), URLSession(configuration: .default))
        #expect(DerivedSession.of(first) === DerivedSession.of(first))
        #expect(DerivedSession.of(first) !== DerivedSession.of(second))
    }

    @Test func `The derived session is freed after its session`() async throws {
        weak var derived: DerivedSession?
        weak var original: URLSession?
        do {
            let session = URLSession(configuration: .default)
            original = session
            derived = DerivedSession.of(session)
        }
        #expect(await eventually { original == nil })
        // Creating a derived session removes derived sessions without an original.
        #expect(
            await eventually {
                _ = DerivedSession.of(URLSession(configuration: .default))
                return derived == nil
            })
    }
}
