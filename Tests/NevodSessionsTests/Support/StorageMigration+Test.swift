@testable import NevodSessions

extension StorageMigration {
    func apply(_ values: inout StoredValues) throws {
        try forward(&values)
    }
}
