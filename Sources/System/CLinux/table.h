/* A table of the functions of a library that is loaded at its first use. Other modules' headers, which declare the functions,
 * include this text. Nothing links to the library. */
#include <dlfcn.h>
#include <stddef.h>

/* Makes two things from `each`, which names every function: `struct table`, in which each function has its declared type, and
 * `table_find`, which returns the name of a function that the library lacks, or null if it has all. Code addresses are safe on any
 * thread; Swift doesn't infer that if a function is variadic. */
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
