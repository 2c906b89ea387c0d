internal import NevodPluginABI

/// The sinks of the host behind a recording; valid during its call.
struct RealSinks {
    var errors: UnsafePointer<nevod_errors>?
    var edits: UnsafePointer<nevod_edits>?
    var actions: UnsafePointer<nevod_actions>?
    var output: UnsafePointer<nevod_output>?
}
