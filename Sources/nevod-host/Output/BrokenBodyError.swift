import NevodHost

/// The connection broke after the head of a response had arrived, so that the server does speak HTTP there.
struct BrokenBodyError: Error, CustomStringConvertible {
    let cause: TransportError

    var description: String { cause.description }
}
