/// A `nevod_listen` that a flow passed, field by field.
package struct ContractListen: Sendable, Equatable {
    /// `NEVOD_LISTEN_…`.
    package var flags: UInt32
    package var path: [UInt8]
    package var host: [UInt8]
    package var port: UInt32
    package var reserved: UInt32
}
