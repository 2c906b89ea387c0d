#include <sqlite3.h>

/* Variadic in C, so not for Swift. */
static inline int nevod_sqlite_config(sqlite3 *database, int option, int value, int *now) {
    return sqlite3_db_config(database, option, value, now);
}
