/* The parts of libsecret, GLib, GObject and GIO that are used, with the names and types of their public headers. Neither the
 * libraries nor their headers are needed to build: the functions are looked up when the Secret Service is first used. */
#include "../CLinux/table.h"
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
void g_object_unref(void *object);
void g_error_free(nevod_gerror *error);
void g_list_free(nevod_glist *list);

unsigned g_str_hash(const void *text);
int g_str_equal(const void *one, const void *other);
void *g_hash_table_new(unsigned (*hash)(const void *), int (*equal)(const void *, const void *));
int g_hash_table_insert(void *table, const char *key, const char *value);
void g_hash_table_unref(void *table);

void *g_cancellable_new(void);
void g_cancellable_cancel(void *cancellable);
void *g_dbus_proxy_get_connection(void *proxy);
void g_dbus_connection_set_exit_on_close(void *connection, int exits);
uint32_t g_dbus_error_quark(void);
uint32_t secret_error_get_quark(void);

size_t secret_service_get_type(void);
void *secret_service_open_sync(size_t type, const char *bus_name, int flags, void *cancellable, nevod_gerror **error);
nevod_glist *secret_service_search_sync(
    void *service, const void *schema, void *attributes, int flags, void *cancellable, nevod_gerror **error);
void *secret_collection_for_alias_sync(
    void *service, const char *alias, int flags, void *cancellable, nevod_gerror **error);
int secret_collection_get_locked(void *collection);

void *secret_item_create_sync(
    void *collection, const void *schema, void *attributes, const char *label, void *value, int flags, void *cancellable,
    nevod_gerror **error);
int secret_item_delete_sync(void *item, void *cancellable, nevod_gerror **error);
int secret_item_get_locked(void *item);
void *secret_item_get_secret(void *item);
int secret_item_set_secret_sync(void *item, void *value, void *cancellable, nevod_gerror **error);

/* A secret's bytes, in memory that libsecret wipes. */
void *secret_value_new(const char *bytes, ptrdiff_t count, const char *content_type);
const char *secret_value_get(void *value, size_t *count);
void secret_value_unref(void *value);

#define NEVOD_SECRET_EACH(F) \
    F(g_object_unref) F(g_error_free) F(g_list_free) F(g_str_hash) F(g_str_equal) F(g_hash_table_new) \
    F(g_hash_table_insert) F(g_hash_table_unref) F(g_cancellable_new) F(g_cancellable_cancel) \
    F(g_dbus_proxy_get_connection) F(g_dbus_connection_set_exit_on_close) F(g_dbus_error_quark) F(secret_error_get_quark) \
    F(secret_service_get_type) F(secret_service_open_sync) F(secret_service_search_sync) \
    F(secret_collection_for_alias_sync) F(secret_collection_get_locked) F(secret_item_create_sync) \
    F(secret_item_delete_sync) F(secret_item_get_locked) F(secret_item_get_secret) F(secret_item_set_secret_sync) \
    F(secret_value_new) F(secret_value_get) F(secret_value_unref)

NEVOD_TABLE(nevod_secret, NEVOD_SECRET_EACH)

enum {
    NEVOD_SEARCH_ALL = 1 << 1,
    NEVOD_SEARCH_LOAD_SECRETS = 1 << 3,
    NEVOD_CREATE_REPLACE = 1 << 1,
    NEVOD_OPEN_SESSION = 1 << 1,
    NEVOD_ERROR_IS_LOCKED = 2,
    NEVOD_DBUS_SERVICE_UNKNOWN = 2,
    NEVOD_DBUS_NAME_HAS_NO_OWNER = 3
};
