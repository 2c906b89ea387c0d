/// The languages of `nevod-host new`.
enum ProjectLanguage: String, CaseIterable, Sendable {
    case swift, c, cpp, rust, go

    /// Whether projects depend on the kit. The others have copies of the contract's files.
    var hasKit: Bool { self == .swift }
}
