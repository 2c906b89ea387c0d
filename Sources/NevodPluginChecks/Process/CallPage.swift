internal import CLinux
internal import Glibc

/// A page of memory that a child process shares with its parent: for each function of the contract, how many calls are in progress. It
/// survives the child, and so names the function that crashed or hung.
///
/// A plugin that writes over all memory may spoil it; then another function is named.
struct CallPage: Sendable {
    static let size = 4096

    // Never unmapped in a child; in the parent, its owner unmaps it. Words are only used atomically.
    nonisolated(unsafe) private let words: UnsafeMutablePointer<UInt64>

    /// - Parameter file: at least ``size`` bytes.
    /// - Returns: nil if it can't be mapped.
    init?(file: Int32) {
        guard let start = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), start != MAP_FAILED else {
            return nil
        }
        words = start.bindMemory(to: UInt64.self, capacity: Self.size / 8)
    }

    func unmap() { munmap(words, Self.size) }

    func enter(_ function: ContractFunction) { nevod_add(words + function.rawValue, 1) }
    func leave(_ function: ContractFunction) { nevod_add(words + function.rawValue, UInt64.max) }

    /// Tells the parent which random case is tried.
    func note(seed: UInt64) {
        nevod_store(words + Self.seedPlace, seed)
        nevod_store(words + Self.seedPlace + 1, 1)
    }

    /// The seed of the random case that was tried last; nil if there was none.
    var seed: UInt64? { nevod_load(words + Self.seedPlace + 1) == 0 ? nil : nevod_load(words + Self.seedPlace) }

    private static let seedPlace = 64

    /// Returns the first function that is in progress; nil if there is none.
    var current: ContractFunction? { ContractFunction.allCases.first { nevod_load(words + $0.rawValue) != 0 } }
}
