/* The files of `nevod-host new`, copied from the repository's folders Templates, Bindings and Sources/NevodPluginABI. They are
 * embedded in the program, so that a copy of it on another machine needs no other file and makes projects for its own draft of the
 * contract. */
#include <stddef.h>

struct nevod_template_file {
    const char *set;  /* "swift", "swift-flow", … */
    const char *path; /* in the new folder */
    const unsigned char *bytes;
    size_t count;
};

const struct nevod_template_file *nevod_template_files(size_t *count);
