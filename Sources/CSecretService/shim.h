/* What is used of libsecret, GLib, GObject and GIO, by the names and types of their public headers. None of these is linked, and
   none of their headers needed: the functions are looked up when the Secret Service is first asked. */
#include <stddef.h>
#include <stdint.h>

/* GError: a message, and a code whose meaning depends on the domain. */
typedef struct nevod_gerror {
    uint32_t domain;
    int32_t code;
    char *message;
} nevod_gerror;

/* GList: doubly linked, null is empty. */
typedef struct nevod_glist {
    void *data;
    struct nevod_glist *next;
    struct nevod_glist *previous;
} nevod_glist;

typedef void (*nevod_release)(void *);
typedef void (*nevod_error_free)(nevod_gerror *);
typedef void (*nevod_list_free)(nevod_glist *);
typedef uint32_t (*nevod_quark)(void);

typedef void *(*nevod_table_new)(const void *hash, const void *equal);
typedef int (*nevod_table_insert)(void *table, const char *key, const char *value);

typedef void *(*nevod_cancellable_new)(void);
typedef void (*nevod_cancellable_cancel)(void *cancellable);
typedef void *(*nevod_proxy_connection)(void *proxy);
typedef void (*nevod_connection_set_exit_on_close)(void *connection, int exits);

typedef size_t (*nevod_service_type)(void);
typedef void *(*nevod_service_open)(
    size_t type, const char *bus_name, int flags, void *cancellable, nevod_gerror **error);
typedef nevod_glist *(*nevod_service_search)(
    void *service, const void *schema, void *attributes, int flags, void *cancellable, nevod_gerror **error);
typedef void *(*nevod_collection_for_alias)(
    void *service, const char *alias, int flags, void *cancellable, nevod_gerror **error);
/* Of a collection or an item. */
typedef int (*nevod_is_locked)(void *object);

typedef void *(*nevod_item_create)(
    void *collection, const void *schema, void *attributes, const char *label, void *value, int flags, void *cancellable,
    nevod_gerror **error);
typedef int (*nevod_item_delete)(void *item, void *cancellable, nevod_gerror **error);
typedef void *(*nevod_item_secret)(void *item);
typedef int (*nevod_item_set_secret)(void *item, void *value, void *cancellable, nevod_gerror **error);

/* A secret's bytes, in memory that libsecret wipes. */
typedef void *(*nevod_value_new)(const char *bytes, ptrdiff_t count, const char *content_type);
typedef const char *(*nevod_value_get)(void *value, size_t *count);

enum {
    NEVOD_SEARCH_ALL = 1 << 1,
    NEVOD_SEARCH_LOAD_SECRETS = 1 << 3,
    NEVOD_CREATE_REPLACE = 1 << 1,
    NEVOD_OPEN_SESSION = 1 << 1,
    NEVOD_ERROR_IS_LOCKED = 2,
    NEVOD_DBUS_SERVICE_UNKNOWN = 2,
    NEVOD_DBUS_NAME_HAS_NO_OWNER = 3
};
