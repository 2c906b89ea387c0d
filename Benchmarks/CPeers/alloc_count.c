// The dynamic linker binds every library's malloc to the executable's, so that these see all of the process. They increment a
// thread-local word and call glibc's allocator by its internal names. free is here because glibc's manual wants the whole set
// replaced. Functions that aren't defined here (valloc, pvalloc) stay glibc's, uncounted, on the same heap.
#include "cpeers.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#ifdef SANITIZED

uint64_t cpeers_allocations(void) {
    return 0;
}

#else

#include <errno.h>

// Exported by glibc for this use ("Replacing malloc" in its manual names the functions to define), but not in a header.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *memory);

// Initial-exec: reached by one load from the thread pointer. The default model may call into the dynamic linker, which allocates
// a thread's storage lazily, by malloc.
static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));

uint64_t cpeers_allocations(void) {
    return allocations;
}

// `used`, because the linker drops unreferenced sections: libraries refer to these functions even if no object of the program does.
#define REPLACES_LIBC __attribute__((used, visibility("default")))

REPLACES_LIBC void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

REPLACES_LIBC void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

REPLACES_LIBC void *realloc(void *old, size_t size) {
    allocations++;
    return __libc_realloc(old, size);
}

REPLACES_LIBC void free(void *memory) {
    __libc_free(memory);
}

REPLACES_LIBC void *memalign(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

REPLACES_LIBC void *aligned_alloc(size_t alignment, size_t size) {
    allocations++;
    return __libc_memalign(alignment, size);
}

REPLACES_LIBC int posix_memalign(void **out, size_t alignment, size_t size) {
    if (alignment == 0 || alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    allocations++;
    // POSIX: returns the error and leaves errno unchanged.
    int saved = errno;
    void *memory = __libc_memalign(alignment, size);
    errno = saved;
    if (memory == NULL)
        return ENOMEM;
    *out = memory;
    return 0;
}

#endif
