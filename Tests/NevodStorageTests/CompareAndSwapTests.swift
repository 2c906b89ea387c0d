import NevodStorage
import Testing

struct CompareAndSwapTests {
    @Test func `An attempt is repeated until it has an outcome`() async throws {
        var attempts = 0
        let outcome = try await retryingCompareAndSwap(of: "a") {
            attempts += 1
            return attempts == 3 ? "done" : nil
        }
        #expect(outcome == "done" && attempts == 3)
    }

    @Test func `A value that others always change first is an error in the end`() async throws {
        let error = await #expect(throws: StorageError.self) { try await retryingCompareAndSwap(of: "a") { nil as Int? } }
        #expect(error?.description == "a: keeps being changed by others; try again")
    }

    @Test func `The error of an attempt ends the attempts`() async throws {
        let failure = StorageError(.full, "a", problem: "is full")
        await #expect(throws: failure) { try await retryingCompareAndSwap(of: "a") { () throws -> Int? in throw failure } }
    }
}
