/// The effect of a response with a status of 400 or higher.
enum FailureMode {
    /// `--fail`: an error in place of the body.
    case withoutBody
    /// `--fail-with-body`: the body, and then the error.
    case withBody
}

extension Arguments {
    /// The mode of the last flag; nil without one.
    var failureMode: FailureMode? {
        switch flags.last(where: { $0.name == .fail || $0.name == .failWithBody })?.name {
        case .fail: .withoutBody
        case .failWithBody: .withBody
        default: nil
        }
    }
}
