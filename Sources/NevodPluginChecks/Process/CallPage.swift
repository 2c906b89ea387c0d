internal import CLinux
internal import Glibc

/// A page of memory that a child process shares with its parent. It counts the calls in progress for each function of the contract.
/// It survives the child, so it names the function that crashed or hung.
///
/// A plugin that overwrites memory at random may damage the page, which then names the wrong function.
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

    /// Tells the parent which random case is running.
    func note(seed: UInt64) {
        nevod_store(words + Self.seedPlace, seed)
        nevod_store(words + Self.seedPlace + 1, 1)
    }

    /// The seed of the last random case; nil if there was none.
    var seed: UInt64? { nevod_load(words + Self.seedPlace + 1) == 0 ? nil : nevod_load(words + Self.seedPlace) }

    private static let seedPlace = 64

    /// Returns the first function that is in progress; nil if there is none.
    var current: ContractFunction? { ContractFunction.allCases.first { nevod_load(words + $0.rawValue) != 0 } }
}

/// The parts of a plugin that run during a check, by their place in the shared page.
enum ContractFunction: Int, CaseIterable {
    case constructors, entryPoint, tables
    case create, needs, tokenDecode, authorize, onResponse, flowBegin, flowStep, bodyPiece
    case bodyFree, flowFree, tokenFree, destroy, getExtension, destructors

    var name: String {
        switch self {
        case .constructors: "its constructors"
        case .entryPoint: "nevod_plugin_v1"
        case .tables: "its tables"
        case .create: "create"
        case .needs: "needs"
        case .tokenDecode: "token_decode"
        case .authorize: "authorize"
        case .onResponse: "on_response"
        case .flowBegin: "flow_begin"
        case .flowStep: "flow_step"
        case .bodyPiece: "body_piece"
        case .bodyFree: "body_free"
        case .flowFree: "flow_free"
        case .tokenFree: "token_free"
        case .destroy: "destroy"
        case .getExtension: "get_extension"
        case .destructors: "its destructors"
        }
    }

    init?(named name: String) {
        guard let found = Self.byName[name] else { return nil }
        self = found
    }

    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })
}

/// Marks calls of a plugin in the page that the parent reads. Any thread, concurrently.
struct CallMarks: Sendable {
    let page: CallPage

    /// An observer for the calls that a ``ContractHost`` makes.
    var observer: @Sendable (_ function: String, _ isEntering: Bool) -> Void {
        { [page] name, isEntering in
            guard let function = ContractFunction(named: name) else { return }
            if isEntering { page.enter(function) } else { page.leave(function) }
        }
    }

    func during<Result, Failure: Error>(_ function: ContractFunction, _ body: () throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        page.enter(function)
        defer { page.leave(function) }
        return try body()
    }
}
