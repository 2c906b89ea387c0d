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
