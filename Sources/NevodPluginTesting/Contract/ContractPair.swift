/// A `nevod_pair`: a header line, a setting, a digest, an answer or a parameter.
package struct ContractPair: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]

    package init(_ name: [UInt8], _ value: [UInt8]) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, _ value: String) { self.init(Array(name.utf8), Array(value.utf8)) }
    package init(_ name: String, _ value: [UInt8]) { self.init(Array(name.utf8), value) }
}
