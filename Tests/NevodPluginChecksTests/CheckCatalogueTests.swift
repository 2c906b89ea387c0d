import NevodHost
import Testing

@testable import NevodPluginChecks

@Suite struct CheckCatalogueTests {
    @Test func `Ids are distinct, and no check causes itself`() {
        let checks = Dictionary(CheckCatalogue.all.map { ($0.id, $0) }) { first, _ in first }
        #expect(checks.count == CheckCatalogue.all.count)
        for check in CheckCatalogue.all {
            // A scheme's basic checks depend on each other: only one of the two can fail first.
            var reached: Set<String> = []
            var next = check.causes.filter { !check.id.hasPrefix("lifecycle.") || $0 != "lifecycle.independent" }
            while let cause = next.popLast() {
                guard reached.insert(cause).inserted else { continue }
                guard let cause = checks[cause] else {
                    Issue.record("\(check.id) is caused by \(cause), which doesn't exist")
                    continue
                }
                next += cause.causes.filter { $0 != "lifecycle.independent" && $0 != "lifecycle.create" }
            }
            #expect(!reached.contains(check.id), "\(check.id) causes itself")
        }
    }

    @Test func `The numbers of a check depend on the seed, the check and the scheme`() {
        func first(_ seed: UInt64, _ check: String, _ scheme: String?) -> UInt64 {
            var random = CheckRandom(seed: seed, check: check, scheme: scheme)
            return random.next()
        }
        let numbers = [first(1, "a", nil), first(2, "a", nil), first(1, "b", nil), first(1, "a", "x")]
        #expect(Set(numbers).count == 4)
        #expect(first(1, "a", "x") == numbers[3])
        var random = CheckRandom(seed: 1, check: "a", scheme: nil)
        #expect(random.bytes(11).count == 11)
    }
}
