/// Where `record` writes, and how.
struct RecordingTarget: Sendable {
    let file: String
    let keepsSecrets: Bool
    /// Whether an existing file is replaced.
    let replaces: Bool
}
