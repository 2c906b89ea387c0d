/// A point in the history of a cache's file. What was requested at one point is stored later only if its resource hasn't changed since.
package struct CacheMoment: Sendable, Equatable {
    /// Random; another one after everything was removed.
    let epoch: [UInt8]
    /// The resources that were changed so far.
    let changes: Int64
}
