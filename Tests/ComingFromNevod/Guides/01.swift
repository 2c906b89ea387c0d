// Adding New Authentication Types: Step 1: Create a TokenModel
import Foundation
import NevodHostFoundation

private struct PairToken: TokenModel {
    let shopID: String
    let shopSecret: String

    func authorize(_ request: inout URLRequest) {
        request.setValue(shopID, forHTTPHeaderField: "X-Shop-ID")
        request.setValue(shopSecret, forHTTPHeaderField: "X-Shop-Secret")
    }

    func encode() throws -> Data {
        try JSONEncoder().encode(["shop": shopID, "key": shopSecret])
    }

    static func decode(from data: Data) throws -> Self {
        let fields = try JSONDecoder().decode([String: String].self, from: data)
        return PairToken(shopID: fields["shop"] ?? "", shopSecret: fields["key"] ?? "")
    }
}
