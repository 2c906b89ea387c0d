public import Foundation
public import NevodHost

extension NetworkError {
    /// The body of the response.
    public var responseData: Data? { responseBody.map { Data($0) } }

    /// Decodes the body of the response, in which many servers describe the error.
    public func decode<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: responseData ?? Data())
    }
}
