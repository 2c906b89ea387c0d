@testable import NevodSessions

extension UserDataStorage {
    static func test(_ home: String) throws -> UserDataStorage {
        UserDataStorage(application: "tests", environment: ["HOME": home])
    }
}
