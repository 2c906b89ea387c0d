public import Foundation
public import NevodHost

extension JSONEncoder: BodyEncoder {
    public var contentType: String { "application/json" }

    public func encode(_ value: some Encodable) throws -> [UInt8] {
        Array(try encode(value) as Data)
    }
}

extension JSONDecoder: BodyDecoder {
    public func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value {
        try decode(type, from: Data(body))
    }
}

extension NetworkError {
    /// The body of the answer.
    public var responseData: Data? { responseBody.map { Data($0) } }

    /// The body of the answer as the error that the server describes.
    public func decode<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: responseData ?? Data())
    }
}

extension URL: URLRepresentation {
    public var urlString: String { absoluteString }
}
