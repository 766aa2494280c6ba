#pragma once
#include <sqlite3.h>

/// Has every cache take its pages one by one. By default each, also that of the little table that a
/// statement makes for its own use, begins with twenty at once, which cost more than the statement.
/// Must come before anything else of SQLite. Returns an SQLite code.
static inline int csqlite_allocate_pages_singly(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}
