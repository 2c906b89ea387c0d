/* What Swift's own module of glibc leaves out. */
#include <sys/epoll.h>
#include <sys/eventfd.h>
