/// The steps that SQLite's virtual machine may still take for a file from outside. Used on one thread.
final class SQLiteBudget {
    /// How many steps are counted at once.
    static let interval: Int32 = 1000

    private var rest: Int

    init(_ steps: Int) {
        rest = steps
    }

    /// - Returns: 0 to go on; anything else ends the statement with `SQLITE_INTERRUPT`.
    func spend() -> Int32 {
        rest -= Int(Self.interval)
        return rest < 0 ? 1 : 0
    }
}
