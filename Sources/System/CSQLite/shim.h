/* Only SQLite's header: nothing here links to the library. */
#include "../CLinux/table.h"
#include <sqlite3.h>

#define NEVOD_SQLITE_EACH(F) \
    F(sqlite3_bind_blob64) F(sqlite3_bind_int64) F(sqlite3_bind_null) F(sqlite3_bind_text64) F(sqlite3_bind_zeroblob) \
    F(sqlite3_busy_timeout) F(sqlite3_changes64) F(sqlite3_clear_bindings) F(sqlite3_close_v2) F(sqlite3_column_blob) \
    F(sqlite3_column_bytes) F(sqlite3_column_int64) F(sqlite3_column_text) F(sqlite3_column_type) F(sqlite3_db_config) \
    F(sqlite3_errmsg) F(sqlite3_errstr) F(sqlite3_exec) F(sqlite3_file_control) F(sqlite3_finalize) F(sqlite3_limit) \
    F(sqlite3_open_v2) F(sqlite3_prepare_v3) F(sqlite3_progress_handler) F(sqlite3_reset) F(sqlite3_step) \
    F(sqlite3_system_errno)

NEVOD_TABLE(nevod_sqlite, NEVOD_SQLITE_EACH)

/* The system's error for the last write that failed. sqlite3_system_errno doesn't report a failed commit. */
static inline int nevod_sqlite_last_errno(struct nevod_sqlite call, sqlite3 *database) {
    sqlite3_file *journal = 0;
    int number = 0;
    call.sqlite3_file_control(database, "main", SQLITE_FCNTL_JOURNAL_POINTER, &journal);
    /* A journal in memory has no method for this. */
    if (journal && journal->pMethods && journal->pMethods->xFileControl) journal->pMethods->xFileControl(journal, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (!number) call.sqlite3_file_control(database, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number ? number : call.sqlite3_system_errno(database);
}

/* Variadic in C, so Swift can't call it. */
static inline int nevod_sqlite_config(struct nevod_sqlite call, sqlite3 *database, int option, int value, int *now) {
    return call.sqlite3_db_config(database, option, value, now);
}
