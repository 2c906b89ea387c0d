/// Finds every occurrence of many texts in one pass (A. V. Aho, M. J. Corasick, "Efficient string matching", 1975). The time is
/// linear in the searched text, however many texts are sought and however alike they are: a server chooses both.
struct TextFinder {
    /// A prefix of one or more of the texts, and the automaton's state after it.
    private struct Node {
        let byte: UInt8
        /// The first prefix that is longer by one byte, and the next one of the same parent; 0 for none.
        var child: Int32 = 0
        var sibling: Int32 = 0
        /// The longest other prefix that this one ends with.
        var suffix: Int32 = 0
        /// The length of the longest text that this prefix ends with; 0 for none.
        var length: Int32 = 0
    }

    /// The first node is the empty prefix.
    private var nodes = [Node(byte: 0)]
    /// The children of the first node, indexed by their byte, because that node has the most children.
    private var roots = [Int32](repeating: 0, count: 256)
    /// Whether texts were added since ``link()``.
    private var mustLink = false
    /// The length of the longest text, in bytes.
    private(set) var longest = 0
    /// Whether a text was left out, because all together would be longer than the limit.
    private(set) var isFull = false
    private let limit: Int

    /// - Parameter limit: limits the memory, in nodes of 20 bytes. Each prefix of the texts takes one node.
    init(limit: Int) {
        self.limit = min(limit, Int(Int32.max))
    }

    /// Adds a text that isn't empty. It is found after the next ``link()``.
    mutating func add(_ text: some Collection<UInt8>) {
        guard text.count <= limit - nodes.count else {
            // Prefixes that are known already aren't subtracted, so the limit isn't exact.
            if !contains(text) { isFull = true }
            return
        }
        var node: Int32 = 0
        for byte in text {
            if let next = child(of: node, byte) {
                node = next
            } else {
                let new = Int32(nodes.count)
                var added = Node(byte: byte)
                if node == 0 {
                    roots[Int(byte)] = new
                } else {
                    added.sibling = nodes[Int(node)].child
                    nodes[Int(node)].child = new
                }
                nodes.append(added)
                node = new
                mustLink = true
            }
        }
        guard nodes[Int(node)].length != Int32(text.count) else { return }
        nodes[Int(node)].length = Int32(text.count)
        mustLink = true
        longest = max(longest, text.count)
    }

    /// Prepares the search for the texts that were added. Takes time linear in the length of all texts, so call it once for a group
    /// of new texts.
    mutating func link() {
        guard mustLink else { return }
        mustLink = false
        var queue = roots.filter { $0 != 0 }
        for node in queue { nodes[Int(node)].suffix = 0 }
        var next = 0
        while next < queue.count {
            let parent = Int(queue[next])
            next += 1
            var node = nodes[parent].child
            while node != 0 {
                let suffix = step(from: nodes[parent].suffix, nodes[Int(node)].byte)
                nodes[Int(node)].suffix = suffix
                // A node's own text is longer than any text that its suffix ends with. A text that was added later may be longer
                // than the one found before.
                nodes[Int(node)].length = max(nodes[Int(node)].length, nodes[Int(suffix)].length)
                queue.append(node)
                node = nodes[Int(node)].sibling
            }
        }
    }

    /// The ranges of the texts, in order. Overlapping ones are united.
    func ranges(in text: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        guard longest > 0 else { return found }
        var node: Int32 = 0
        for (index, byte) in text.enumerated() {
            node = step(from: node, byte)
            let length = Int(nodes[Int(node)].length)
            guard length > 0 else { continue }
            var start = index + 1 - length
            while let last = found.last, last.upperBound > start {
                start = min(start, last.lowerBound)
                found.removeLast()
            }
            found.append(start..<index + 1)
        }
        return found
    }

    private func contains(_ text: some Collection<UInt8>) -> Bool {
        var node: Int32 = 0
        for byte in text {
            guard let next = child(of: node, byte) else { return false }
            node = next
        }
        return nodes[Int(node)].length == Int32(text.count)
    }

    private func step(from start: Int32, _ byte: UInt8) -> Int32 {
        var node = start
        while true {
            if let next = child(of: node, byte) { return next }
            guard node != 0 else { return 0 }
            node = nodes[Int(node)].suffix
        }
    }

    private func child(of node: Int32, _ byte: UInt8) -> Int32? {
        if node == 0 { return roots[Int(byte)] == 0 ? nil : roots[Int(byte)] }
        var child = nodes[Int(node)].child
        while child != 0, nodes[Int(child)].byte != byte { child = nodes[Int(child)].sibling }
        return child == 0 ? nil : child
    }
}
