/// The version of this project, in its command line, its requests, and its answers to plugins.
package enum Version {
    package static let literal: StaticString = "0.2.0"
    package static var text: String { literal.description }
}
