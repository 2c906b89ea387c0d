/* libpq by its header alone: nothing here links to it. */
#include <dlfcn.h>
#include <stddef.h>
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define NEVOD_PQ_EACH(F) \
    F(PQclear) F(PQcancel) F(PQconnectdbParams) F(PQconninfoFree) F(PQconninfoParse) F(PQconnectionNeedsPassword) \
    F(PQconnectionUsedPassword) F(PQconsumeInput) F(PQerrorMessage) F(PQfinish) F(PQflush) F(PQfreeCancel) F(PQfreemem) \
    F(PQgetCancel) F(PQgetResult) F(PQgetisnull) F(PQgetlength) F(PQgetvalue) F(PQhost) F(PQisBusy) F(PQnotifies) \
    F(PQntuples) F(PQpingParams) F(PQport) F(PQresultErrorField) F(PQresultStatus) F(PQsendPrepare) F(PQsendQuery) \
    F(PQsendQueryPrepared) F(PQsetNoticeProcessor) F(PQsetnonblocking) F(PQsocket) F(PQstatus)

/* What is called of it, each with the type that the header gives it. */
struct nevod_pq {
#define NEVOD_PQ_MEMBER(name) __typeof__(name) *name;
    NEVOD_PQ_EACH(NEVOD_PQ_MEMBER)
#undef NEVOD_PQ_MEMBER
};

/* The name of what the library lacks; null: it has everything. */
static inline const char *nevod_pq_find(void *library, struct nevod_pq *functions) {
#define NEVOD_PQ_FIND(name) \
    functions->name = (__typeof__(name) *)dlsym(library, #name); \
    if (functions->name == NULL) return #name;
    NEVOD_PQ_EACH(NEVOD_PQ_FIND)
#undef NEVOD_PQ_FIND
    return NULL;
}
