/*
 * Linked to faulty.c to make a fault of the library file. A macro chooses the fault.
 */
#include <stddef.h>

#ifdef IMPORT
/* Imported, and never called. */
extern int IMPORT(void);
int (*const volatile linked_import)(void) __attribute__((visibility("hidden"))) = IMPORT;
#endif

#ifdef TEXT_RELOCATION
__asm__(".text\n.quad linked_target\n.data\nlinked_target: .quad 0\n.text\n");
#endif

#ifdef LARGE
__attribute__((visibility("hidden"), used)) const char linked_block[40 << 20] = {1};
#endif

#ifdef WRITABLE_CODE
__asm__(".section .both,\"awx\",@progbits\n.quad 0\n.text\n");
#endif

#ifdef STATIC_TLS
static __thread int linked_local __attribute__((tls_model("initial-exec")));
__attribute__((visibility("hidden"), used)) int *linked_address(void) { return &linked_local; }
#endif
