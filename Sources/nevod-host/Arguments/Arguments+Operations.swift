import NevodHost

extension Arguments {
    /// The transfers of a request, in order: each has one URL, the flags of its group, and as output and upload its own.
    ///
    /// As curl does, the n-th of `-o` and `-O` in a group belongs to the group's n-th URL, and the n-th `-T` as well; a URL without
    /// one is written to standard output.
    var operations: [Arguments] {
        get throws {
            try ([self] + laterGroups).flatMap { try $0.ownOperations }
        }
    }

    /// The items behind the one URL of an operation.
    var items: [RequestItem] { shorthands.first?.items ?? [] }

    private var ownOperations: [Arguments] {
        get throws {
            guard !operands.isEmpty else { throw UsageError("no URL given; see nevod-host --help") }
            let outputs = paired(\.isOutput)
            let uploads = paired { $0 == .uploadFile }
            try checkCount(outputs, "-o and -O")
            try checkCount(uploads, "-T")
            return try operands.indices.map { index in
                let shorthand = shorthands.indices.contains(index) ? shorthands[index] : Shorthand()
                var own = [outputs, uploads].compactMap { $0.indices.contains(index) ? $0[index] : nil }
                if !outputs.indices.contains(index), has(.remoteNameAll) { own.append((.remoteName, "")) }
                own += try shorthand.flags(has(.method))
                let shared = { (flags: [(name: Flag.Name, value: String)]) in
                    flags.filter { !$0.name.isOutput && $0.name != .uploadFile } + own
                }
                let operation = replacing(shared(flags), typed: shared(typed), [operands[index]], [shorthand])
                try OutputFile.checkName(operation)
                return operation
            }
        }
    }

    /// The flags of one kind that belong to one URL each. Typed ones replace a profile's.
    private func paired(_ isMeant: (Flag.Name) -> Bool) -> [(name: Flag.Name, value: String)] {
        let typed = typed.filter { isMeant($0.name) }
        return typed.isEmpty ? flags.filter { isMeant($0.name) } : typed
    }

    private func checkCount(_ given: [(name: Flag.Name, value: String)], _ what: String) throws(UsageError) {
        // A profile's output is not meant for a URL in particular.
        guard given.count > max(1, operands.count) else { return }
        throw UsageError(
            "\(what) are given \(given.count) times, but there \(operands.count == 1 ? "is 1 URL" : "are \(operands.count) URLs")"
        )
    }
}

extension Flag.Name {
    /// Whether the flag says where the body of one URL is written.
    fileprivate var isOutput: Bool { self == .output || self == .remoteName }
}
