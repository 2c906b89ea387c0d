/* A table of the functions of a library that is loaded when it is first used. Text for other modules' headers, each of which has
   the functions' declarations: nothing links to them. */
#include <dlfcn.h>
#include <stddef.h>

/* Of `each`, which names every function: `struct table`, where each has the type that it is declared with; and `table_find`, which
   returns the name of what the library lacks, or null if it has everything. Addresses of code may go to any thread: Swift doesn't see
   that for itself where a function is variadic. */
#define NEVOD_TABLE(table, each) \
    struct __attribute__((swift_attr("@Sendable"))) table { \
        each(NEVOD_TABLE_MEMBER) \
    }; \
    static inline const char *table##_find(void *library, struct table *functions) { \
        each(NEVOD_TABLE_FIND) \
        return NULL; \
    }
#define NEVOD_TABLE_MEMBER(name) __typeof__(name) *name;
#define NEVOD_TABLE_FIND(name) \
    functions->name = (__typeof__(name) *)dlsym(library, #name); \
    if (functions->name == NULL) return #name;
