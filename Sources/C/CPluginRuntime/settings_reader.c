#include "plugin_runtime.h"

/* In the memory that each thread has from its start, so that no call of the loader is needed. One word is small enough for that. */
static _Thread_local void *settings_reader __attribute__((tls_model("initial-exec")));

void *nevod_settings_reader(void) { return settings_reader; }
void nevod_set_settings_reader(void *reader) { settings_reader = reader; }
