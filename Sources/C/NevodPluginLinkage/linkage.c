/* Nothing to compile: this target carries the linker flags of every plugin product (see Package.swift). They can't be on the
 * plugin's own target: then anything that links its code, such as a benchmark, would be linked as a plugin. */
typedef int nevod_plugin_linkage;
