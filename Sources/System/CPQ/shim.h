/* Only libpq's header: nothing here links to the library. */
#include "../CLinux/table.h"
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#define NEVOD_PQ_EACH(F) \
    F(PQclear) F(PQcancel) F(PQconnectStartParams) F(PQconnectdbParams) F(PQconninfo) F(PQconninfoFree) F(PQconninfoParse) \
    F(PQconnectionNeedsPassword) F(PQconsumeInput) F(PQerrorMessage) F(PQfinish) F(PQflush) \
    F(PQfreeCancel) F(PQfreemem) \
    F(PQgetCancel) F(PQgetResult) F(PQgetisnull) F(PQgetlength) F(PQgetvalue) F(PQhost) F(PQisBusy) F(PQnotifies) \
    F(PQntuples) F(PQpingParams) F(PQport) F(PQresultErrorField) F(PQresultStatus) F(PQsendPrepare) F(PQsendQuery) \
    F(PQsendQueryPrepared) F(PQsetNoticeProcessor) F(PQsetnonblocking) F(PQsocket) F(PQstatus) F(PQbackendPID)

NEVOD_TABLE(nevod_pq, NEVOD_PQ_EACH)
