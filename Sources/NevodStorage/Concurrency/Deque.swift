/// A queue with amortized constant-time operations at both ends. (The standard library has none.)
package struct Deque<Element> {
    private var inbox: [Element] = []
    private var outbox: [Element] = []

    package init() {}

    package var isEmpty: Bool { inbox.isEmpty && outbox.isEmpty }
    package var count: Int { inbox.count + outbox.count }

    package mutating func append(_ element: Element) {
        inbox.append(element)
    }

    package mutating func popFirst() -> Element? {
        if outbox.isEmpty {
            outbox = inbox.reversed()
            inbox.removeAll(keepingCapacity: true)
        }
        return outbox.popLast()
    }
}
