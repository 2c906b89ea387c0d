#include <sqlite3.h>

/* What the system said to the last write that failed. sqlite3_system_errno doesn't know that of a commit. */
static inline int nevod_sqlite_last_errno(sqlite3 *database) {
    sqlite3_file *journal = 0;
    int number = 0;
    sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    if (journal && journal->pMethods) journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (!number) sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number ? number : sqlite3_system_errno(database);
}

/* Variadic in C, so not for Swift. */
static inline int nevod_sqlite_config(sqlite3 *database, int option, int value, int *now) {
    return sqlite3_db_config(database, option, value, now);
}
