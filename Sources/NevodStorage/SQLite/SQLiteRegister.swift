internal import NevodSupport

/// The register of a store during one transaction or snapshot. It lists the version of each key's value, and so shows whether a
/// row is the one that the store wrote. Used on the store's thread.
struct SQLiteRegister {
    let database: SQLiteDatabase
    let opened: OpenedKey
    private(set) var head: RegisterHead
    private var pages: [RegisterPage.Number: RegisterPage] = [:]
    private var changed: Set<RegisterPage.Number> = []

    /// Opens the store's register.
    ///
    /// - Returns: nil if the store has another key now.
    /// - Throws: `damaged` if the register is missing, or does not open.
    init?(_ database: SQLiteDatabase, _ opened: OpenedKey) throws(StorageError) {
        var (number, first): (Int64, [UInt8]) = (0, [])
        try database.run("SELECT key_number, sealed FROM store LEFT JOIN register ON page = 0") { row in
            (number, first) = (row.integer(0), row.blob(1))
        }
        guard number == opened.number else { return nil }
        try self.init(database, opened, first)
    }

    private init(_ database: SQLiteDatabase, _ opened: OpenedKey, _ first: [UInt8]) throws(StorageError) {
        guard let content = opened.open(page: .first, first, 0), let head = RegisterHead(content.prefix(RegisterHead.size)),
            let page = RegisterPage(content.dropFirst(RegisterHead.size), as: .first)
        else { throw Self.damage(database.path) }
        self.database = database
        self.opened = opened
        self.head = head
        pages[.first] = page
    }

    /// An empty register, to be filled and saved.
    private init(new database: SQLiteDatabase, _ opened: OpenedKey) {
        self.database = database
        self.opened = opened
        head = RegisterHead()
        pages[.first] = RegisterPage()
        changed = [.first]
    }

    // MARK: Reading

    /// Reads one value and its part of the register in one statement.
    ///
    /// - Returns: nil if the store has another key now. The register forgets removed values, so the version of an absent value is
    ///   the store's number of changes so far.
    static func read(
        _ key: StorageKey, _ database: SQLiteDatabase, _ opened: OpenedKey
    ) throws(StorageError) -> (head: RegisterHead, secret: Secret?, version: UInt64)? {
        let place = RegisterPage.Place(key)
        var (number, sealedPages, row): (Int64, [[UInt8]], Row?) = (0, [], nil)
        try database.run(
            """
            SELECT key_number, (SELECT sealed FROM register WHERE page = 0), (SELECT sealed FROM register WHERE page = ?),
                (SELECT sealed FROM register WHERE page = ?), version, entry.sealed
            FROM store LEFT JOIN entry ON key = ?
            """, [.integer(Int64(place.middle.index)), .integer(Int64(place.last.index)), .text(key.rawValue)]
        ) { found in
            number = found.integer(0)
            sealedPages = [found.blob(1), found.blob(2), found.blob(3)]
            row = found.isNull(5) ? nil : Row(version: found.integer(4), sealed: found.blob(5))
        }
        guard number == opened.number else { return nil }
        var register = try SQLiteRegister(database, opened, sealedPages[0])
        try register.add(place.middle, sealedPages[1], under: .first, place.bytes.0)
        try register.add(place.last, sealedPages[2], under: place.middle, place.bytes.1)
        let version = register.pages[place.last]?[place.digest]
        return (register.head, try register.open(row, key, version: version), version ?? register.head.changes)
    }

    /// A row of the table `entry`.
    struct Row {
        let version: Int64
        let sealed: [UInt8]
    }

    /// The value of a key.
    mutating func secret(for key: StorageKey) throws(StorageError) -> Secret? {
        let place = RegisterPage.Place(key)
        return try open(database.row(of: key), key, version: page(of: place)[place.digest])
    }

    /// The value in a row that was already read.
    mutating func open(_ row: Row, of key: StorageKey) throws(StorageError) -> Secret? {
        let place = RegisterPage.Place(key)
        return try open(row, key, version: page(of: place)[place.digest])
    }

    private mutating func page(of place: RegisterPage.Place) throws(StorageError) -> RegisterPage {
        try load(place.middle, under: .first, place.bytes.0)
        try load(place.last, under: place.middle, place.bytes.1)
        return pages[place.last] ?? RegisterPage()
    }

    private mutating func load(
        _ page: RegisterPage.Number, under parent: RegisterPage.Number, _ byte: UInt8
    ) throws(StorageError) {
        guard pages[page] == nil else { return }
        var sealed: [UInt8] = []
        if pages[parent]?[UInt128(byte)] != nil {
            try database.run("SELECT sealed FROM register WHERE page = ?", [.integer(Int64(page.index))]) { sealed = $0.blob(0) }
        }
        try add(page, sealed, under: parent, byte)
    }

    private mutating func add(
        _ page: RegisterPage.Number, _ sealed: [UInt8], under parent: RegisterPage.Number, _ byte: UInt8
    ) throws(StorageError) {
        guard let version = pages[parent]?[UInt128(byte)] else {
            pages[page] = RegisterPage()
            return
        }
        guard let content = opened.open(page: page, sealed, version), let found = RegisterPage(content[...], as: page) else {
            throw Self.damage(database.path)
        }
        pages[page] = found
    }

    // MARK: Writing

    /// Stores a value, whatever the row holds; nil removes it. Call ``save()`` afterwards.
    mutating func set(_ secret: Secret?, for key: StorageKey) throws(StorageError) {
        let place = RegisterPage.Place(key)
        var page = try self.page(of: place)
        let version = try countChange()
        if let secret {
            try database.save(opened.seal(secret, registered: key, version), for: key, Int64(version))
            head.sealings += 1
        } else {
            try database.run("DELETE FROM entry WHERE key = ?", [.text(key.rawValue)])
        }
        page[place.digest] = secret == nil ? nil : version
        put(page, place)
    }

    private mutating func countChange() throws(StorageError) -> UInt64 {
        // Each change seals at most four values (a page counts as one), so a key reaches the limit only after a billion changes.
        guard head.sealings < SealingKey.mostSealings else {
            throw StorageError(
                .other, database.path,
                problem: "its key has sealed \(head.sealings) values, the most that are safe with AES-GCM",
                remedy: "give it a new key, with nevod-host store rekey or rekey(_:)")
        }
        guard head.changes < UInt64(Int64.max) else { throw Self.damage(database.path) }
        head.changes += 1
        return head.changes
    }

    private mutating func put(_ page: RegisterPage, _ place: RegisterPage.Place) {
        pages[place.last] = page
        changed.formUnion([place.last, place.middle, .first])
    }

    /// Notes the count that is kept with the key, if it is higher than this store's.
    mutating func noteTurnedBack(from count: UInt64) {
        guard count > max(head.turnedBackFrom, head.changes) else { return }
        head.turnedBackFrom = count
        changed.insert(.first)
    }

    /// Writes the changed pages.
    mutating func save() throws(StorageError) {
        // From the last level upward, because each page lists the versions of the pages below it.
        for number in changed.sorted(by: { $0.index > $1.index }) where number != .first {
            guard let page = pages[number] else { continue }
            let (parent, byte) = number.parent
            pages[parent]?[UInt128(byte)] = page.entries.isEmpty ? nil : head.changes
            if page.entries.isEmpty {
                try database.run("DELETE FROM register WHERE page = ?", [.integer(Int64(number.index))])
            } else {
                try write(number, opened.seal(page: number, page.encoded(as: number), head.changes))
            }
        }
        guard changed.contains(.first), let first = pages[.first] else { return }
        head.sealings += 1
        try database.saveRegister(
            .first, opened.seal(page: .first, head.encoded + first.encoded(as: .first), 0))
        changed = []
    }

    private mutating func write(_ number: RegisterPage.Number, _ sealed: [UInt8]) throws(StorageError) {
        head.sealings += 1
        try database.saveRegister(number, sealed)
    }
}

// MARK: The whole store

extension SQLiteRegister {
    /// Creates the register for a store that has none: a new store, or one of layout 1, whose values are then sealed again.
    ///
    /// - Returns: nil if the store has another key now.
    static func make(_ database: SQLiteDatabase, _ opened: OpenedKey) throws(StorageError) -> Void? {
        var (number, pages): (Int64, Int64) = (0, 0)
        try database.run("SELECT key_number, (SELECT count(*) FROM register) FROM store") { row in
            (number, pages) = (row.integer(0), row.integer(1))
        }
        guard number == opened.number else { return nil }
        // Another process has created the register meanwhile. Or only its first page is missing, which is noticed when the
        // register is opened.
        guard pages == 0 else { return () }
        var register = SQLiteRegister(new: database, opened)
        var values: [(key: StorageKey, version: UInt64)] = []
        try database.forEachRow { (key, row) throws(StorageError) in
            let version = UInt64(clamping: row.version)
            values.append((key, version))
            let entry = SealedEntry(version: row.version, sealed: row.sealed)
            guard let secret = try? opened.open(entry, key, in: database.path) else {
                // If this value was sealed with a register, the store has lost its register, and the value may be an older one.
                guard opened.open(row.sealed, registered: key, version) == nil else { throw damage(database.path) }
                // Any other value stays as it is: reading it reports that it doesn't open, and the other values can be read.
                return
            }
            register.head.changes = max(register.head.changes, version)
            // The key may have sealed every version up to this one.
            let (sum, isTooMany) = register.head.sealings.addingReportingOverflow(version + 1)
            register.head.sealings = isTooMany ? .max : sum
            try database.save(opened.seal(secret, registered: key, version), for: key, row.version)
        }
        for (key, version) in values { try register.list(key, version) }
        try register.save()
        return ()
    }

    private mutating func list(_ key: StorageKey, _ version: UInt64) throws(StorageError) {
        let place = RegisterPage.Place(key)
        var page = try self.page(of: place)
        page[place.digest] = version
        put(page, place)
    }

    /// Seals every value and the register again under another key.
    func sealedAgain(with next: OpenedKey) throws(StorageError) {
        var (old, new) = (self, SQLiteRegister(new: database, next))
        new.head.changes = head.changes
        try database.forEachRow { (key, row) throws(StorageError) in
            guard let secret = try old.open(row, of: key), let version = UInt64(exactly: row.version) else { return }
            try old.database.save(next.seal(secret, registered: key, version), for: key, row.version)
            new.head.sealings += 1
            try new.list(key, version)
        }
        guard try old.missing(beside: new) == 0 else { throw Self.missing(database.path) }
        try database.execute("DELETE FROM register")
        try new.save()
    }

    /// The number of listed values that another register does not list.
    private mutating func missing(beside other: SQLiteRegister) throws(StorageError) -> Int {
        var count = 0
        for byte in UInt8.min...UInt8.max where pages[.first]?[UInt128(byte)] != nil {
            let middle = RegisterPage.Number.first.child(byte)
            try load(middle, under: .first, byte)
            for next in UInt8.min...UInt8.max where pages[middle]?[UInt128(next)] != nil {
                let last = middle.child(next)
                try load(last, under: middle, next)
                let others = other.pages[last]
                count += pages[last]?.entries.count { others?[$0.id] == nil } ?? 0
            }
        }
        return count
    }

    /// The number of listed values whose keys are not among these.
    mutating func missingCount(_ keys: [StorageKey]) throws(StorageError) -> Int {
        var found = SQLiteRegister(new: database, opened)
        for key in keys { found.note(key) }
        return try missing(beside: found)
    }

    /// Lists a key without looking at what is stored.
    private mutating func note(_ key: StorageKey) {
        let place = RegisterPage.Place(key)
        pages[place.last, default: RegisterPage()][place.digest] = 1
    }

    /// Opens every value, and compares the register with the rows.
    ///
    /// - Parameter body: Called for each row with its value, or with the reason not to trust it.
    /// - Returns: the number of listed values without a row.
    mutating func check(
        _ body: (StorageKey, Result<Secret?, StorageError>) throws(StorageError) -> Void
    ) throws(StorageError) -> Int {
        var found = SQLiteRegister(new: database, opened)
        let database = database
        try database.forEachRow { (key, row) throws(StorageError) in
            let result: Result<Secret?, StorageError>
            do throws(StorageError) {
                result = .success(try open(row, of: key))
            } catch {
                result = .failure(error)
            }
            found.note(key)
            try body(key, result)
        }
        return try missing(beside: found)
    }
}
