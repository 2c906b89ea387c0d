/* Puts structs right before inaccessible memory, where a read beyond their end crashes. */
#ifndef EDGE_H
#define EDGE_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EDGE_PAGE (64u << 10) /* the largest page size of the supported processors */

/* Returns a copy that ends with its page and is never freed. Struct sizes are multiples of eight, so the copy is aligned. */
static inline void *at_edge(const void *value, size_t size)
{
    uint8_t *pages = mmap(NULL, 2 * EDGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED || mprotect(pages + EDGE_PAGE, EDGE_PAGE, PROT_NONE) != 0 || size > EDGE_PAGE)
        abort();
    return memcpy(pages + EDGE_PAGE - size, value, size);
}

#endif
