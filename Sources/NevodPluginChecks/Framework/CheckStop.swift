/// Ends a check from within.
enum CheckStop: Error {
    case skip(String)
    case fail(Finding)
}
