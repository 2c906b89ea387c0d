/* The part of the kit that Swift can't express. */
#ifndef NEVOD_PLUGIN_RUNTIME_H
#define NEVOD_PLUGIN_RUNTIME_H

/* The object that reads the settings of the scheme that this thread is creating; NULL if it creates none. */
void *nevod_settings_reader(void);
void nevod_set_settings_reader(void *reader);

#endif
