#include "plugin_runtime.h"

/* In the memory that each thread has from its start, which needs no call of the loader; a word is little enough for it. */
static _Thread_local void *settings_reader __attribute__((tls_model("initial-exec")));

void *nevod_settings_reader(void) { return settings_reader; }
void nevod_set_settings_reader(void *reader) { settings_reader = reader; }
