/// A call that crossed the contract: the function, its inputs, and what the plugin did.
package struct RecordedCall: Sendable, Equatable {
    /// The token that a call got.
    package enum Token: Sendable, Equatable {
        case none
        case stored(ContractToken)
        /// By the number that `token_decode` gave it.
        case decoded(Int)
    }

    /// The function with its inputs. Instances, tokens, flows and wrappings are numbered in the order in which they were made.
    package enum Function: Sendable, Equatable {
        case create(scheme: [UInt8], settings: [ContractPair])
        case needs
        case tokenDecode(token: Int, bytes: [UInt8])
        case tokenFree(token: Int)
        case authorize(Token, ContractView)
        case onResponse(Token, ContractView, ContractResponse)
        case flowBegin(flow: Int, kind: Int32)
        case flowStep(flow: Int, ContractEvent)
        case flowFree(flow: Int)
        case bodyPiece(wrapping: Int, piece: [UInt8], isLast: Bool)
        case bodyFree(wrapping: Int)
        case destroy

        /// The name in the contract.
        package var name: String {
            switch self {
            case .create: "create"
            case .needs: "needs"
            case .tokenDecode: "token_decode"
            case .tokenFree: "token_free"
            case .authorize: "authorize"
            case .onResponse: "on_response"
            case .flowBegin: "flow_begin"
            case .flowStep: "flow_step"
            case .flowFree: "flow_free"
            case .bodyPiece: "body_piece"
            case .bodyFree: "body_free"
            case .destroy: "destroy"
            }
        }
    }

    /// The number of the instance.
    package var instance: Int
    package var function: Function
    package var outcome: ContractOutcome
    /// The result of `needs`.
    package var needs: ContractNeeds?
}
