/// Marks calls of a plugin in the page that the parent reads. Any thread, concurrently.
struct CallMarks: Sendable {
    let page: CallPage

    /// For the calls that a ``ContractHost`` makes.
    var observer: @Sendable (_ function: String, _ isEntering: Bool) -> Void {
        { [page] name, isEntering in
            guard let function = ContractFunction(named: name) else { return }
            if isEntering { page.enter(function) } else { page.leave(function) }
        }
    }

    func during<Result, Failure: Error>(_ function: ContractFunction, _ body: () throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        page.enter(function)
        defer { page.leave(function) }
        return try body()
    }
}
