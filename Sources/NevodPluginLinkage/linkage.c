/* Nothing to compile: this target carries the linker flags of every plugin product (see Package.swift). They can't stand on
 * the plugin's own target, because then everything that links its code, a benchmark for one, would be linked as a plugin. */
typedef int nevod_plugin_linkage;
