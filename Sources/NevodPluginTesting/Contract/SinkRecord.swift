/// A call that a plugin made, and what it returned to the plugin.
package struct SinkRecord: Sendable, Equatable {
    package let call: SinkCall
    /// A status; for `is_public` 0 or 1, for `get_extension` 1 if there is one, else 0.
    package let result: Int32

    package init(_ call: SinkCall, result: Int32) {
        self.call = call
        self.result = result
    }
}
