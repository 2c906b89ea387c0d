import Testing

@testable import NevodStorage

struct SQLiteLibraryTests {
    @Test func `A library that isn't installed is an error that says what to install`() {
        let error = #expect(throws: StorageError.self) { try SQLite("libsqlite-of-nobody.so.0") }
        #expect(error?.code == .unavailable && error?.subject == "libsqlite-of-nobody.so.0")
        #expect(error?.problem.hasPrefix("can't be loaded: ") == true)
        #expect(error?.remedy == "install version 3.37 or later, with: apt install libsqlite3-0")
    }

    @Test func `Another library under its name is an error that says what it lacks`() {
        let error = #expect(throws: StorageError.self) { try SQLite("libc.so.6") }
        #expect(error?.code == .unavailable && error?.problem.hasPrefix("has no sqlite3_") == true)
    }

    @Test func `A failure is put in words, with a database and without one`() throws {
        #expect(try SQLite().message(14, nil) == "unable to open database file")
    }
}
