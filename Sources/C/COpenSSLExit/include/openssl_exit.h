/* Linking this target keeps OpenSSL usable until the process has ended. OpenSSL's clean-up at exit would free memory that the
 * threads of stores and sessions still use, and free twice what an ending thread frees. The system takes the memory back. */
