import NevodStorage
import Testing

struct GenerationalCacheTests {
    private var cache = GenerationalCache<String, Int>(limit: 4)

    @Test mutating func `Entries that are used stay, and the others are dropped at the limit`() {
        for number in 0..<100 {
            cache.insert(number, for: "\(number)")
            cache.insert(number, for: "used")
            #expect(cache.value(for: "used") == number)
            #expect(cache.keys.count <= 4)
        }
        #expect(cache.value(for: "7") == nil)
        #expect(cache.drops > 0)
    }

    @Test mutating func `An entry is replaced and removed in either generation`() {
        for key in ["a", "b", "c"] { cache.insert(1, for: key) }
        cache.insert(2, for: "a")
        #expect(cache.keys.sorted() == ["a", "b", "c"])
        #expect(cache.value(for: "a") == 2)
        for key in ["a", "b", "c"] {
            cache.removeValue(for: key)
            #expect(cache.value(for: key) == nil)
        }
        #expect(cache.keys.isEmpty)
    }

    @Test mutating func `New values keep their keys, and a full cache can be emptied`() {
        for key in ["a", "b", "c"] { cache.insert(1, for: key) }
        cache.mapValues { $0 + 1 }
        #expect(cache.keys.sorted() == ["a", "b", "c"])
        #expect(cache.value(for: "c") == 2)
        cache.removeAll()
        #expect(cache.keys.isEmpty)
        #expect(cache.value(for: "c") == nil)
    }
}
