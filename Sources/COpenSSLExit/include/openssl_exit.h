/* Linking this target keeps OpenSSL usable until the process has ended: its clean-up at exit would free what the threads of stores
 * and sessions still use, and free twice what a thread frees that ends at the same time. The system takes the memory back. */
