/// Stands where a configuration was given no coder, so that what needs one fails with a reason.
struct MissingCoder: BodyEncoder, BodyDecoder {
    struct Failure: Error, CustomStringConvertible {
        let property: String

        var description: String {
            "the configuration has no \(property); with NevodHostFoundation, NetworkConfig(environments:timeout:jsonEncoder:"
                + "jsonDecoder:) has one, and any other is set as NetworkConfig.\(property)"
        }
    }

    var contentType: String { "application/octet-stream" }

    func encode(_ value: some Encodable) throws -> [UInt8] {
        throw Failure(property: "encoder")
    }

    func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value {
        throw Failure(property: "decoder")
    }
}
