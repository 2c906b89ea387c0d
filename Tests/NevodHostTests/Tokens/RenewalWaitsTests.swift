import Testing

@testable import NevodHost

struct RenewalWaitsTests {
    private let objects = (0..<4).map { _ in InMemoryStorage() }
    private func id(_ index: Int) -> ObjectIdentifier { ObjectIdentifier(objects[index]) }

    private func expect(
        _ waiting: [ObjectIdentifier], _ target: ObjectIdentifier, _ mayWait: Bool, _ waits: inout RenewalWaits,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let may = waits.begin(waiting, target)
        #expect(may == mayWait, sourceLocation: sourceLocation)
    }

    @Test func `A wait that would close a cycle is refused, however long the cycle`() {
        var waits = RenewalWaits()
        expect([id(0)], id(1), true, &waits)
        expect([id(1)], id(2), true, &waits)
        expect([id(2)], id(3), true, &waits)
        expect([id(3)], id(0), false, &waits)
        expect([id(3)], id(3), false, &waits)
        expect([id(3), id(1)], id(0), false, &waits)
        expect([id(0), id(1)], id(3), true, &waits)
    }

    @Test func `A wait that has ended blocks no other`() {
        var waits = RenewalWaits()
        expect([id(0)], id(1), true, &waits)
        expect([id(0)], id(1), true, &waits)
        waits.end([id(0)], id(1))
        expect([id(1)], id(0), false, &waits)
        waits.end([id(0)], id(1))
        #expect(waits.isEmpty)
        expect([id(1)], id(0), true, &waits)
    }
}
