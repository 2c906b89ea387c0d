/// The version of this project, as shown in its command line, its requests, and its replies to plugins.
package enum Version {
    package static let literal: StaticString = "0.2.0"
    package static var text: String { literal.description }
    /// The day of the version, for the manual page.
    package static let date: StaticString = "2026-11-22"
}
