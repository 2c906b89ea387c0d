/// A call of a sink outside of the call that it was passed to, or on another thread.
package struct KeptSinkCall: Sendable, Equatable {
    /// The sink's function, such as `set_header`.
    package let function: String
    /// The plugin's function that the sink was passed to, such as `authorize`.
    package let of: String
}
