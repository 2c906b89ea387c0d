#include "plugin_calls.h"

_Thread_local nevod_call *nevod_current_call;
