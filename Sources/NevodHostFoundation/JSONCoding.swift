public import Foundation
public import NevodHost

extension JSONEncoder: BodyEncoder {
    public var contentType: String { "application/json" }

    public func body(of value: some Encodable) throws -> [UInt8] {
        Array(try encode(value))
    }
}

extension JSONDecoder: BodyDecoder {
    public func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value {
        try decode(type, from: Data(body))
    }
}
