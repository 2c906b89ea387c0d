/// A queue with amortized constant-time operations at both ends, which the standard library lacks. Inlinable, because every
/// request passes through one in another module.
@frozen @usableFromInline
package struct Deque<Element> {
    @usableFromInline var inbox: [Element] = []
    @usableFromInline var outbox: [Element] = []

    @inlinable
    package init() {}

    @inlinable
    package var isEmpty: Bool { inbox.isEmpty && outbox.isEmpty }
    @inlinable
    package var count: Int { inbox.count + outbox.count }

    @inlinable
    package mutating func append(_ element: Element) {
        inbox.append(element)
    }

    @inlinable
    package mutating func popFirst() -> Element? {
        if outbox.isEmpty {
            guard !inbox.isEmpty else { return nil }
            outbox = inbox.reversed()
            inbox.removeAll(keepingCapacity: true)
        }
        return outbox.popLast()
    }
}
