#pragma once
#include <sqlite3.h>

/// Makes every page cache allocate its pages one by one. By default each begins with twenty at once, even that of
/// a statement's temporary table, and they cost more than the statement.
/// Must be the first call of SQLite. Returns an SQLite code.
static inline int csqlite_allocate_pages_singly(void) {
    return sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
}
