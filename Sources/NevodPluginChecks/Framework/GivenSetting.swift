/// A value of `--set`.
package struct GivenSetting: Sendable, Equatable {
    package let name: String
    package let value: [UInt8]

    package init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }
}
