/// The end of a flow that has succeeded.
public struct FlowResult: Sendable, Equatable {
    /// The token; nil at the end of a logout.
    public let token: TestToken?
    /// The tokens that the flow kept before its end, in order.
    public let keptTokens: [TestToken]
    /// The texts that it showed, each with its address, if it has one, behind a space.
    public let shown: [String]
    /// A line for each event and each action, in order.
    public let transcript: [String]
    /// The lines that it wrote to the log.
    public let logLines: [TestLogLine]
}
