/// A `nevod_flow_request` that a flow sent, field by field.
package struct ContractFlowRequest: Sendable, Equatable {
    package var method: [UInt8]
    package var url: [UInt8]
    package var headers: [ContractPair]
    package var body: [UInt8]
    /// 0: a redirect arrives as a response.
    package var followsRedirects: Int32
    package var reserved: UInt32
}
