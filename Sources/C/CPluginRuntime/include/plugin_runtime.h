/* The part of the kit that Swift can't express. */
#ifndef NEVOD_PLUGIN_RUNTIME_H
#define NEVOD_PLUGIN_RUNTIME_H

/* Reads the settings of the scheme that this thread is creating; NULL if it isn't creating one. */
void *nevod_settings_reader(void);
void nevod_set_settings_reader(void *reader);

#endif
