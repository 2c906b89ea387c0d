public import Foundation
public import NevodHost

extension FormDataPart {
    /// The bytes of a part in memory; empty for a file that is read while it is sent.
    public var data: Data { Data(bytes ?? []) }
}
