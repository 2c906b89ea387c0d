/// Lays out text in columns, for people.
enum Columns {
    /// Returns a line for each row. A column is as wide as its widest cell, and two spaces separate the columns.
    static func text(_ rows: [[String]]) -> String {
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.count)
            }
        }
        return rows.map { row in
            let line = zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }.joined(separator: "\n")
    }
}

extension String {
    /// Adds spaces at the end, up to a width. A wider text stays the same.
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

    /// Adds spaces at the start, up to a width. A wider text stays the same.
    func rightAligned(in width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
