/// A queue of which both ends cost the same. (The standard library has none.)
struct Deque<Element> {
    private var inbox: [Element] = []
    private var outbox: [Element] = []

    var isEmpty: Bool { inbox.isEmpty && outbox.isEmpty }
    var count: Int { inbox.count + outbox.count }

    mutating func append(_ element: Element) {
        inbox.append(element)
    }

    mutating func popFirst() -> Element? {
        if outbox.isEmpty {
            outbox = inbox.reversed()
            inbox.removeAll(keepingCapacity: true)
        }
        return outbox.popLast()
    }
}
