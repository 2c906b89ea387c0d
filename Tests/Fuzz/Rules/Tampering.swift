import CSQLite
import Glibc

@testable import NevodStorage

/// An SQLite connection without a store's restrictions, which the maker of a file may have used.
struct Tampering: ~Copyable {
    /// The library as a store loads it, so that test programs don't link it.
    private static let call = try? SQLite().call

    private let call: nevod_sqlite
    private let database: OpaquePointer

    /// Opens a file, and closes it after the body.
    @discardableResult
    init?(_ path: String, _ body: (borrowing Tampering) -> Void) {
        guard let call = Self.call else { return nil }
        var opened: OpaquePointer?
        guard call.sqlite3_open_v2(path, &opened, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK, let opened else {
            _ = call.sqlite3_close_v2(opened)
            return nil
        }
        (self.call, database) = (call, opened)
        // Long statements are tested in the importer, not here, where the file is made.
        call.sqlite3_progress_handler(database, 50_000, { _ in 1 }, nil)
        _ = call.sqlite3_limit(database, SQLITE_LIMIT_LENGTH, 1 << 20)
        run("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF")
        body(self)
    }

    deinit { _ = call.sqlite3_close_v2(database) }

    func run(_ text: String) {
        _ = call.sqlite3_exec(database, text, nil, nil, nil)
    }

    /// Changes a table's column in some rows, as the input says.
    func change(_ input: inout Input) {
        let tables = names("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
        guard !tables.isEmpty else { return }
        let table = tables[Int(input.byte()) % tables.count]
        let columns = names("SELECT name FROM pragma_table_info('\(table)')")
        guard !columns.isEmpty else { return }
        let column = columns[Int(input.byte()) % columns.count]
        let row = input.byte() % 4
        let value: String
        switch input.byte() % 6 {
        case 0: value = String(input.integer())
        case 1: value = "'\(hexadecimal(input.take(8)))'"
        case 2: value = "x'\(hexadecimal(input.take(40)))'"
        case 3: value = "NULL"
        // The value of another row, or another column.
        case 4: value = "(SELECT \(column) FROM \(table) LIMIT 1 OFFSET \(input.byte() % 4))"
        default: value = columns[Int(input.byte()) % columns.count]
        }
        let place = row == 3 ? "" : " WHERE \(columns[0]) = (SELECT \(columns[0]) FROM \(table) LIMIT 1 OFFSET \(row))"
        run("UPDATE \(table) SET \(column) = \(value)\(place)")
    }

    private func names(_ query: String) -> [String] {
        var statement: OpaquePointer?
        guard call.sqlite3_prepare_v3(database, query, -1, 0, &statement, nil) == SQLITE_OK else { return [] }
        defer { _ = call.sqlite3_finalize(statement) }
        var names: [String] = []
        while call.sqlite3_step(statement) == SQLITE_ROW {
            if let name = call.sqlite3_column_text(statement, 0) { names.append(String(cString: name)) }
        }
        return names
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
