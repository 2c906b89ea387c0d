/// The coder of a configuration without one. It throws an error that explains what is missing.
struct MissingCoder: BodyEncoder, BodyDecoder {
    struct Failure: Error, CustomStringConvertible {
        let property: String

        var description: String {
            "the configuration has no \(property); set NetworkConfig.\(property), or import NevodHostFoundation and use "
                + "NetworkConfig(environments:timeout:jsonEncoder:jsonDecoder:)"
        }
    }

    var contentType: String { "application/octet-stream" }

    func body(of value: some Encodable) throws -> [UInt8] {
        throw Failure(property: "encoder")
    }

    func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value {
        throw Failure(property: "decoder")
    }
}
