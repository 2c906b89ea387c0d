public import Foundation
public import NevodHost

extension Data: UndecodedBody {
    public init(undecodedBody body: [UInt8]) {
        self.init(body)
    }
}
