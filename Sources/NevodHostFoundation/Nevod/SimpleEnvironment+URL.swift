public import Foundation
public import NevodHost

extension NevodNamed where Self == SimpleEnvironment {
    /// The base URL; `file:///` if the environment was made from a text that isn't a URL.
    @_disfavoredOverload  // Without a type from the context, the property is the text.
    public var baseURL: URL {
        URL(string: self.NevodHost::baseURL) ?? URL(fileURLWithPath: "/")
    }
}
