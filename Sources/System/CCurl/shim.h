#include <curl/curl.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* Swift can't call variadic functions. libcurl's setters are variadic and check types in macros, so each type has a function
 * here. */

static inline CURLcode nevod_easy_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode nevod_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode nevod_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode nevod_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* The shape of CURLOPT_WRITEFUNCTION, CURLOPT_HEADERFUNCTION and CURLOPT_READFUNCTION. */
typedef size_t (*nevod_data_function)(char *data, size_t size, size_t count, void *context);

static inline CURLcode nevod_easy_set_data_function(CURL *easy, CURLoption option, nevod_data_function function) {
    return curl_easy_setopt(easy, option, function);
}

static inline CURLcode nevod_easy_set_seek_function(CURL *easy, curl_seek_callback function) {
    return curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode nevod_easy_set_open_function(CURL *easy, curl_opensocket_callback function) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, function);
}

static inline CURLcode nevod_easy_set_close_function(CURL *easy, curl_closesocket_callback function, void *context) {
    CURLcode code = curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, context) : code;
}

static inline CURLMcode nevod_multi_set_socket_function(CURLM *multi, curl_socket_callback function, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, function);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context) : code;
}

static inline CURLMcode nevod_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, function);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context) : code;
}

static inline CURLMcode nevod_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

/* The next finished transfer, or NULL. CURLMsg holds a union, which Swift imports badly. */
static inline CURL *nevod_multi_next_done(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

static inline CURLcode nevod_easy_get_private(CURL *easy, void **context) {
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)context);
}

static inline CURLcode nevod_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline curl_version_info_data *nevod_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

static inline CURLcode nevod_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

/* The result when nevod_verify_certificate rejects a certificate. OpenSSL reserves this number for applications. */
static const long nevod_no_alternative_name = X509_V_ERR_APPLICATION_VERIFICATION;

/* Verifies a server's certificate as OpenSSL does, and rejects one without a DNS name or address in its subjectAltName. libcurl
 * compares the names afterwards. */
static inline int nevod_verify_certificate(X509_STORE_CTX *store, void *unused) {
    (void)unused;
    if (X509_verify_cert(store) != 1) return 0;
    X509 *certificate = X509_STORE_CTX_get0_cert(store);
    GENERAL_NAMES *names = certificate ? X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL) : NULL;
    int found = 0;
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        int type = sk_GENERAL_NAME_value(names, index)->type;
        if (type == GEN_DNS || type == GEN_IPADD) found = 1;
    }
    GENERAL_NAMES_free(names);
    if (!found) X509_STORE_CTX_set_error(store, nevod_no_alternative_name);
    return found;
}

static inline CURLcode nevod_set_up_tls(CURL *easy, void *context, void *unused) {
    (void)easy;
    (void)unused;
    SSL_CTX_set_cert_verify_callback((SSL_CTX *)context, nevod_verify_certificate, NULL);
    return CURLE_OK;
}

static inline CURLcode nevod_easy_require_alternative_name(CURL *easy) {
    return curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, nevod_set_up_tls);
}

static inline const char *nevod_easy_get_text(CURL *easy, CURLINFO info) {
    char *text = NULL;
    return curl_easy_getinfo(easy, info, &text) == CURLE_OK ? text : NULL;
}

/* The TLS session of the connection in use. NULL if there is no session, or if libcurl isn't built with OpenSSL. */
static inline SSL *nevod_easy_get_tls(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? (SSL *)session->internals : NULL;
}

/* Writes the subject's name (0) or the issuer's (1) into a buffer. Returns the number of bytes written. */
static inline int nevod_certificate_name(X509 *certificate, int is_issuer, char *buffer, int size) {
    BIO *output = BIO_new(BIO_s_mem());
    if (!output) return 0;
    X509_NAME *name = is_issuer ? X509_get_issuer_name(certificate) : X509_get_subject_name(certificate);
    X509_NAME_print_ex(output, name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
    int count = BIO_read(output, buffer, size);
    BIO_free(output);
    return count > 0 ? count : 0;
}

/* The beginning (0) or the end (1) of a certificate's validity, in seconds since 1970; 0 if it can't be read. */
static inline int64_t nevod_certificate_time(X509 *certificate, int is_end) {
    struct tm broken_down;
    const ASN1_TIME *time = is_end ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate);
    return time && ASN1_TIME_to_tm(time, &broken_down) == 1 ? (int64_t)timegm(&broken_down) : 0;
}

/* The certificates that CURLOPT_CERTINFO collected. */
static inline int nevod_easy_certificate_count(CURL *easy) {
    struct curl_certinfo *certificates = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &certificates) != CURLE_OK || !certificates) return 0;
    return certificates->num_of_certs;
}

static inline const struct curl_slist *nevod_easy_certificate(CURL *easy, int index) {
    struct curl_certinfo *certificates = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &certificates) != CURLE_OK || !certificates) return NULL;
    return index >= 0 && index < certificates->num_of_certs ? certificates->certinfo[index] : NULL;
}
