public import Foundation
public import NevodHost

extension TokenModel where Encoded == [UInt8] {
    /// The token's bytes as `Data`.
    public func encode() throws -> Data {
        let bytes: [UInt8] = try encode()
        return Data(bytes)
    }

    /// Decodes a token from `Data`.
    public static func decode(from data: Data) throws -> Self {
        try decode(from: Array(data))
    }
}
