/// A `nevod_question` that a flow asked, field by field.
package struct ContractQuestion: Sendable, Equatable {
    /// `NEVOD_QUESTION_…`.
    package var kind: Int32
    package var name: [UInt8]
    package var prompt: [UInt8]
    package var choices: [[UInt8]]
    package var reserved: UInt32
}
