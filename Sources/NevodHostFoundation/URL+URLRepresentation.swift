public import Foundation
public import NevodHost

extension URL: URLRepresentation {
    public var urlString: String { absoluteString }
}
