internal import CPluginCalls

/// A call of a plugin's function that has not returned, on whichever thread.
package struct CallInProgress: Hashable, Sendable {
    /// The path of the plugin's library.
    package let library: String
    /// The scheme's id; nil while the library is loaded.
    package let scheme: String?
    package let function: String
    /// Tells calls of one function apart.
    private let generation: UInt64

    /// Returns the calls in progress now.
    package static var all: Set<CallInProgress> {
        var calls: Set<CallInProgress> = []
        var next = nevod_call_threads()
        while let thread = next {
            next = thread.pointee.next
            var names: UnsafePointer<nevod_call_names>?
            var function: UnsafePointer<CChar>?
            let generation = nevod_call_outermost(thread, &names, &function)
            guard generation != 0, let names, let function else { continue }
            calls.insert(
                CallInProgress(
                    library: String(cString: names.pointee.library), scheme: names.pointee.scheme.map { String(cString: $0) },
                    function: String(cString: function), generation: generation))
        }
        return calls
    }
}
